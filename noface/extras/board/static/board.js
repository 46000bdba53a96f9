// The board works without this file: it follows what changes, and has keys lead to links and buttons.
"use strict";
(() => {
  const base = document.body.dataset.base;
  if (!base) return;
  const all = (selector) => [...document.querySelectorAll(selector)];
  const one = (selector) => document.querySelector(selector);
  const written = () => all("main textarea").some((field) => field.value !== field.defaultValue || field === document.activeElement);

  // An event holds ids only: what has changed is fetched again, unless a person is writing there.
  const events = new EventSource(base + "/events");
  const changed = () => htmx.trigger(document.body, "changed");
  const issue = new URLSearchParams(location.search).get("id");
  events.addEventListener("changed", (event) => {
    const ids = JSON.parse(event.data).ids;
    if (!issue || !ids.length || ids.includes(issue)) changed();
  });
  events.addEventListener("grown", () => {
    if (!issue || one(".log, .tail")) changed();
  });
  let lost = false; // what was missed meanwhile is in the page that is fetched then
  events.addEventListener("error", () => { lost = true; });
  events.addEventListener("open", () => { if (lost) { lost = false; changed(); } });

  let places = [];
  document.body.addEventListener("htmx:beforeSwap", (event) => {
    if (event.detail.xhr.status === 200 && !written()) {
      places = all("pre.log, pre.tail").map((log) => [log.id || log.className, log.scrollHeight - log.scrollTop - log.clientHeight < 40, log.scrollTop]);
      return;
    }
    event.detail.shouldSwap = false;
    if (written()) one("#stale").hidden = false;
  });
  document.body.addEventListener("htmx:afterSwap", () => {
    for (const [name, atEnd, top] of places) {
      const log = all("pre.log, pre.tail").find((each) => (each.id || each.className) === name);
      if (log) log.scrollTop = atEnd ? log.scrollHeight : top;
    }
  });
  for (const log of all("pre.log, pre.tail")) log.scrollTop = log.scrollHeight;

  const follow = (selector) => { const link = one(selector); if (link) link.click(); };
  const focus = (selector) => { const place = one(selector); if (place) { place.focus(); place.scrollIntoView({ block: "nearest" }); } };
  const step = (selector, by) => {
    const places = all(selector);
    const at = places.indexOf(document.activeElement);
    const next = places[at < 0 ? (by > 0 ? 0 : places.length - 1) : Math.min(Math.max(at + by, 0), places.length - 1)];
    if (next) { next.focus(); next.scrollIntoView({ block: "nearest" }); }
  };
  const next = (by) => {
    if (one(".card")) return step(".card a", by);
    if (document.activeElement.matches(".comment")) return step("a.comment", by);
    if (one(".file")) return step(".file h3", by);
    follow(by > 0 ? "#next" : "#before");
  };
  const line = () => { // where a comment was made last, else in the file that j and k have led to, else in the first one
    const file = document.activeElement.closest(".file");
    const link = (!file && one("tr:target .comment")) || (file || document).querySelector(":is(.add, .cut) .comment");
    if (link) { link.focus(); link.scrollIntoView({ block: "nearest" }); } else follow("#tab-2");
  };
  const keys = {
    "?": () => follow("#to-keys"), g: () => follow("#to-board"), x: () => follow("#to-problems"), v: () => follow("#to-report"),
    j: () => next(1), k: () => next(-1), "/": () => focus("#find"), p: () => focus("#pause"),
    1: () => follow("#tab-1"), 2: () => follow("#tab-2"), 3: () => follow("#tab-3"), 4: () => follow("#tab-4"),
    n: () => focus("#comment, #words, #note"), c: () => line(),
    a: () => focus("#do-approve"), r: () => focus("#do-reject"), t: () => focus("#do-retry"), s: () => focus("#do-skip"),
  };
  document.addEventListener("keydown", (event) => {
    const field = event.target.closest("input, textarea, select");
    if (field && event.key === "Escape") { field.blur(); return; }
    if (field || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
})();
