"""Reads the nights: `data/GROUP.toml`, an array `night` each.

A night has
  name, what        how it is called, and what happens, in a line
  todo              why noface is known not to get it right yet
  workers           at work at the same time
  issues, each      how many issues there are, and what each has that is not listed in `issue`; {id} is its number
  issue             id, title, body, front (its front matter), done (a script that succeeds in a checkout of main where
                    the issue is done), turn; raw: its file's whole text; later: a person adds it;
                    task, habit, truth and says tell how it was generated; without all of these it wants shop/feature_ID.py, and its worker makes it
  issue.turn        what the worker does; the first whose `if` holds:
    if              call (which of its runs), model, told and untold (patterns of the prompt), there (paths in its
                    checkout), has (patterns of its files), resumed (its session was)
    do, takes       a script, run in the checkout; how long that takes by the night's clock
    ends            how it ends: well, hangs, killed, crash, or an error of the provider; reset: told with that
    words, report   its last words, and the report in them
    cost, tokens    what it says that it used
    noise_mb        how much it prints before; truth: the right work lies there after it
    program         an agent of its own, which tells the truth of each call itself (`seeds.py --agent`)
  provider          outages: error, from, until, after_calls, until_noted, times, models, keys; told: it says until when
  roles             answers to questions, by role; an issue's own come first
  run               starts of noface, one after the other: args, before (a script of the person's), failpoint where
                    noface dies (loop_dies: where a loop does), disk_mb of the workspaces
  meanwhile         by name, what a script's `meanwhile NAME` has the person or fate do: do, signal
  chances           by name, the sides of the die that `chance NAME` throws
  files, prepare    added to the project, committed; a script in it
  config            added to noface.toml
  needs             a program without which it cannot be played
  tests_back        the tests of the start that main must pass in the morning; tests_run: what of the tests is run
  may_change        what of the person's may be another in the morning: they change it themselves
  tools             programs on PATH; seconds_max: of the machine's, for each run; parts: what it was generated from
  expect            what a person wants to find in the morning:
    landed, stopped main does what these ask for; main must not have these
    main_has, main_lacks, mine   patterns of files on main, and of files in the person's checkout
    unmerged        issues of which nothing may be merged; one_of: issues of which one lands, and not two
    holds           scripts that succeed in the repository in the morning, by what is wrong where they don't
    harm, untidy    scripts that succeed in a checkout of main where something is wrong, by what that is
    unseen          issues whose work is wrong where nothing shows it: told apart, not judged
    and of noface alone: exits, status, cause, says (patterns of `noface blocked ID`), prints (of the run's own lines),
    why (the same of each that did not land), charged_max (attempts), calls_max (by issue, kind or `all`), notes_max, hours_min, hours_max

@PYTEST@, @PYTHON@, @REPO@ and @FOLDER@ are filled in everywhere.
"""

import tomllib
from pathlib import Path
from typing import Any

GROUPS = ("outages", "gates", "workers", "person")
"""The files of `data`, in the order in which they are shown."""


KEYS = {
    "night": "name what todo workers issues each issue provider roles run meanwhile chances files prepare config needs"
    " tests_back tests_run expect group may_change tools parts seconds_max",
    "issue": "id title body front done turn raw later task habit truth says roles",
    "turn": "if do takes ends reset words report cost tokens noise_mb truth program",
    "if": "call model told untold there has resumed",
    "provider": "error from until after_calls until_noted times models keys told",
    "run": "args before failpoint loop_dies disk_mb",
    "expect": "landed stopped main_has main_lacks mine exits status cause says prints charged_max calls_max notes_max"
    " hours_min hours_max main_red unmerged unseen why one_of holds harm untidy",
}
"""All keys there are: one that is not known is a slip of the pen, and would expect nothing."""


def catalogue() -> list[dict[str, Any]]:
    """Return all nights, each with its group. Raises ValueError where one cannot be right."""
    nights: list[dict[str, Any]] = []
    for group in GROUPS:
        text = (Path(__file__).resolve().parent / "data" / f"{group}.toml").read_text()
        nights += [{**night, "group": group, "issue": _issues(night)} for night in tomllib.loads(text)["night"]]
    names = [night["name"] for night in nights]
    if len(set(names)) != len(names):
        raise ValueError("two nights have the same name")
    for night in nights:
        check(night, "night", night["name"])
    return nights


def check(entry: dict[str, Any], kind: str, where: str) -> None:
    """Raise ValueError for a key that is not known, and for an expectation of an issue that is not there."""
    unknown = entry.keys() - set(KEYS[kind].split())
    if unknown:
        raise ValueError(f"{where}: {', '.join(sorted(unknown))} in {kind}")
    for key, value in entry.items():
        if key in KEYS:
            for inner in value if isinstance(value, list) else [value]:
                check(inner, key, where)
    if kind == "night":
        ids, expect = {issue["id"] for issue in entry["issue"]}, entry["expect"]
        named = {
            *expect.get("landed", ()),
            *expect.get("stopped", ()),
            *expect.get("status", ()),
            *expect.get("says", ()),
            *expect.get("unmerged", ()),
            *expect.get("why", ()),
        }
        if named - ids:
            raise ValueError(f"{where}: no issue {', '.join(sorted(named - ids))}")


def _issues(night: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the issues of a night: those of `issue`, and up to number `issues` others, as `each` says."""
    known = {issue["id"]: issue for issue in night.get("issue", ())}
    ids = list(dict.fromkeys((*known, *(str(number) for number in range(1, night.get("issues", 0) + 1)))))
    return [known.get(name) or _filled({"id": name, **night.get("each", {})}, name) for name in sorted(ids, key=int)]


def _filled(value: Any, name: str) -> Any:
    match value:
        case str():
            return value.replace("{id}", name)
        case dict():
            return {key: _filled(inner, name) for key, inner in value.items()}
        case list():
            return [_filled(inner, name) for inner in value]
        case _:
            return value
