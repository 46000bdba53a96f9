"""Makes nights by a seed: `generate(seed)` is the same record as a night of `catalogue.py`, drawn from five tables.

`data/tasks.toml`, what issues ask for:
  name, kind        module: files of its own; change: of what main has, once a night; shared: a place that others use too
  title, body       of the issue; {id} is its number
  right, bad, other, sly   the work, wrong in a way that its own test shows (twice), wrong so that it does not show:
                    files by path (the others over those of `right`), or a script
  check, done       Python, or a script, that tells in a checkout of main whether it does what the issue asks
  file, test        what it adds or changes first
`data/habits.toml`, how an agent behaves at an issue:
  truth             right: its last change does what is asked and must land; wrong: nothing of it may; unseen: it is wrong,
                    and nothing that a run could look at shows it; free: either is fine
  turn              as in a night; `truth = "right"` marks the turns after which the right work lies there
  needs             tests, module, text, sly: of the task; accept, no-accept; big: a second model; partner: another issue
  says              patterns of what noface tells of it if it did not land
  harm, untidy      scripts that succeed in a checkout of main where it did what must not be, or is a pity
  front, gate       for its issue; a gate that the night has for it
  sandbox, slow     it needs a sandbox; it costs seconds, so there is one at most
`data/people.toml` and `data/faults.toml`, what happens while an issue, `{id}`, is worked at:
  do, signal        as in a night's `meanwhile`; when: before or after the worker's change, or never (a gate calls it)
  again             what the person does before noface is started once more
  holds             scripts that succeed in the repository in the morning if it happened
  task, turn, truth, done   that issue's, instead of what was drawn
  group             two of a group are not in one night; alone: nothing of people is beside it
  later             {later} is an issue that is not there at the start
  provider, run, gate, files, chances, tests_run, tests_back, prepare, needs, may_change   as in a night; workers: several
`data/backlogs.toml`, issues that have to do with each other; {a}, {b}, {c} are their numbers:
  issue             task, habit or `turn`; what it has of an issue; truth: held is free, but noface says why it waits
  one_of            one of them must land, and not two

Nothing here is read by noface, the loops or an agent's decision but what a run can see: text, files, output, exit codes.
"""

import json
import random
import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

_REGRESS = "sed -i '/^def with_tax/,/return/s/return .*/return price * (1 + rate) + 1/' shop/prices.py"
_RESTORE = """
sed -i '/^def with_tax/,/return/s/return .*/return price * (1 + rate)/' shop/prices.py
cat > tests/test_prices.py <<'EOF'
from shop.prices import total, with_tax


def test_total():
    assert total([1, 2, 3]) == 6


def test_tax():
    assert with_tax(100) == 120
EOF
"""
_TOOLS = {
    # A person's command that meets noface's lock is given again.
    "again": 'for n in 1 2 3 4 5 6 7 8 9 10; do "$@" && exit 0; sleep 0.2; done; exit 1',
    # Both sides of a conflict stay: the right answer where all add to one place.
    "resolve": "sed -i '/^|||||||/,/^=======/{/^=======/!d}; /^<<<<<<< /d; /^=======$/d; /^>>>>>>> /d' \"$1\"",
    "regress": _REGRESS,
    "restore": _RESTORE.strip(),
}
_PARTS = 30
_FILES = {
    "shop/parts/__init__.py": "",
    **{f"shop/parts/part_{n:02d}.py": f'def name():\n    return "part {n}"\n' for n in range(_PARTS)},
    "tests/test_parts.py": (
        'from shop.parts import part_00\n\n\ndef test_parts():\n    assert part_00.name() == "part 0"\n'
    ),
    "shop/hours.py": "def opens():\n    return 9\n",
    "tests/test_hours.py": "from shop.hours import opens\n\n\ndef test_opens():\n    assert opens() == 9\n",
    "shop/rates.py": 'RATES = {\n    "EUR": 1.0,\n}\n',
    "docs/guide.md": "# Guide\n\nHow to sell.\n",
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1.0.0"\n',
    "infra/deploy.yml": "replicas: 2\n",
    ".gitignore": "__pycache__/\nbuild/\n",
}
_ROLES = {
    "changed_tests": '{"asked_for": false, "sentence": "", "reason": "The issue says nothing of what this test expects."}'
}
"""What a model answers that has read an issue which does not ask for the change of a test; others have answers of their own."""
_UNIT = {"name": "unit", "kind": "test", "command": "@PYTEST@"}
_NO_CANARY = {"canary": False}
_CALLS = {"must": 7, "wrong": 11, "free": 11, "unseen": 7, "gone": 4}
_HOURS_MAX = 18.0
"""A main that is red until morning is waited for as long as a provider, twelve hours; other outages come beside it."""
_SECONDS_MAX = 300.0


@cache
def table(name: str) -> tuple[dict[str, Any], ...]:
    """Return the entries of a table: tasks, habits, people, faults, backlogs."""
    text = (Path(__file__).resolve().parent / "data" / f"{name}.toml").read_text()
    entries = next(iter(tomllib.loads(text).values()))
    return tuple({**entry, "group_of": name} for entry in entries)


def generate(seed: int, program: str = "") -> dict[str, Any]:
    """Return the night of a seed: always the same one. A program of its own may be the agent in the place of habits."""
    return _Draft(seed, program).night()


class _Draft:
    """A night that is being drawn."""

    def __init__(self, seed: int, program: str = "") -> None:
        self.seed = seed
        self.program = program
        self.dice = random.Random(f"night {seed}")
        self.count = self.dice.randint(3, 8)
        self.workers = self.dice.randint(1, 3)
        self.big = self.dice.random() < 0.85
        self.plain = self.dice.random() < 0.15
        self.issues: dict[str, dict[str, Any]] = {}
        self.fragments: list[tuple[dict[str, Any], list[str]]] = []
        self.events: list[dict[str, Any]] = []
        self.used: set[str] = set()

    def night(self) -> dict[str, Any]:
        self.backlog()
        self.happen()
        self.behave()
        for name in sorted(self.issues, key=int):
            self.issues[name] = self.issue(name)
        self.depend()
        return self.record()

    def backlog(self) -> None:
        """Draw the issues: shapes of several, and single ones beside them."""
        free = [str(number) for number in range(1, self.count + 1)]
        self.dice.shuffle(free)
        for _ in range(self.dice.choices((0, 1, 2), (35, 50, 15))[0]):
            names = {fragment["name"] for fragment, _ in self.fragments}
            fitting = [one for one in table("backlogs") if one["name"] not in names and len(one["issue"]) < len(free)]
            if fitting:
                fragment = self.dice.choice(fitting)
                ids, free = free[: len(fragment["issue"])], free[len(fragment["issue"]) :]
                self.fragments.append((fragment, ids))
                for name, wanted in zip(ids, fragment["issue"], strict=True):
                    self.issues[name] = {**wanted, "fragment": dict(zip("abcdef", ids, strict=False))}
        for name in free:
            self.issues[name] = {}
        for name in sorted(self.issues, key=int):
            self.issues[name]["task"] = self.task(self.issues[name].get("task", ""))

    def task(self, wanted: str) -> dict[str, Any]:
        """Draw a task: one of that name or kind, or any."""
        tasks = table("tasks")
        fitting = [task for task in tasks if wanted in (task["name"], task["kind"])]
        if wanted and not fitting:
            return {"name": wanted, "kind": "own"}
        kind = self.dice.choices(("module", "change", "shared"), (60, 15, 25))[0]
        pool = [task for task in fitting or tasks if task["name"] not in self.used]
        task = self.dice.choice([task for task in pool if task["kind"] == kind] or pool)
        if task["kind"] == "change":
            self.used.add(task["name"])
        return task

    def happen(self) -> None:
        """Draw what people do and what fails, each at an issue of its own."""
        single = [name for name in sorted(self.issues, key=int) if "fragment" not in self.issues[name]]
        self.dice.shuffle(single)
        people = self.dice.sample(table("people"), self.dice.choices((0, 1, 2), (30, 45, 25))[0])
        faults = self.dice.sample(table("faults"), self.dice.choices((0, 1, 2), (40, 45, 15))[0])
        for drawn in (*people, *faults):
            if not single or not self.fits(drawn):
                continue
            name = single.pop()
            event = {**drawn, "issue": name}
            if "task" in event:
                self.issues[name] |= {"task": self.task(event["task"]), "habit": "works-well"}
                event.pop("task")
            if event.get("later"):
                event["later"] = str(self.count + 1)
                self.issues[event["later"]] = {"task": self.task("module"), "habit": "works-well", "later": True}
            self.issues[name]["event"] = event
            self.events.append(event)

    def fits(self, event: Mapping[str, Any]) -> bool:
        """Tell whether an event can be in the same night as those that were drawn."""
        for other in self.events:
            if event.get("group", "-") == other.get("group", "") or ("run" in event and "run" in other):
                return False
            for one, beside in ((event, other), (other, event)):
                if one.get("alone") and beside["group_of"] == "people":
                    return False
        return not event.get("workers") or self.workers > 1

    def behave(self) -> None:
        """Draw the habits, and which issues have a command that shows them."""
        slow = sandbox = False
        gated = any("gate" in event or event.get("needs") for event in self.events)
        for name in sorted(self.issues, key=int):
            issue = self.issues[name]
            needs = issue.get("event", {}).get("needs", ())
            issue["accept"] = (
                "check" in issue["task"] and issue["task"]["kind"] != "own" and "no-accept" not in needs
                and self.dice.random() < 0.4
            )  # fmt: skip
            if "turn" in issue or "turn" in issue.get("event", {}):
                issue["habit"] = {"name": "its own", "truth": "right", "turn": []}
                continue
            if self.program:
                issue["habit"] = {
                    "name": "stranger",
                    "truth": "shown",
                    "turn": [{"do": "true", "program": self.program}],
                }
                continue
            wanted = issue.get("habit", "any")
            fitting = [
                one for one in table("habits")
                if wanted in ("any", one["name"])
                and all(self.has(name, need) for need in one.get("needs", ()))
                and not (one.get("slow") and slow)
                and not (one.get("sandbox") and (gated or not self.dice.randrange(2)))
                and not (one.get("gate") and sandbox)
            ]  # fmt: skip
            habit = self.dice.choices(fitting, [one.get("weight", 1) for one in fitting])[0]
            slow, sandbox, gated = slow or "slow" in habit, sandbox or "sandbox" in habit, gated or "gate" in habit
            issue["habit"] = habit
            if "accept" in habit.get("needs", ()):
                issue["accept"] = True
            if "partner" in habit.get("needs", ()):
                issue["partner"] = self.dice.choice(self.partners(name))

    def has(self, name: str, need: str) -> bool:
        """Tell whether an issue has what a habit needs."""
        issue, task = self.issues[name], self.issues[name]["task"]
        own = issue.get("event", {}).get("needs", ())
        return {
            "tests": "test" in task,
            "module": task["kind"] == "module",
            "text": task["kind"] == "shared",
            "sly": "sly" in task,
            "accept": "check" in task and "no-accept" not in own,
            "no-accept": not issue["accept"],
            "big": self.big,
            "partner": bool(self.partners(name)),
        }[need]

    def partners(self, name: str) -> list[str]:
        return [
            one for one in sorted(self.issues, key=int)
            if one != name and self.issues[one]["task"]["kind"] == "module" and "event" not in self.issues[one]
            and "fragment" not in self.issues[one]
        ]  # fmt: skip

    def words(self, name: str) -> dict[str, str]:
        """Return what the placeholders of an issue's texts stand for."""
        issue = self.issues[name]
        task = issue["task"]
        alias = issue["fragment"][issue["same"]] if "same" in issue else name
        task = self.issues[alias]["task"] if "same" in issue else task
        event = issue.get("event", {})
        values = {f"{{{key}}}": f"{key}-{alias}" for key in ("right", "bad", "other", "sly")}
        values |= {"{regress}": "regress", "{restore}": "restore", "{partner}": f"right-{issue.get('partner', '')}"}
        values |= {
            "{name}": event.get("name", ""),
            "{later}": str(event.get("later", "")),
            "{check}": task.get("check", "").lstrip(),
        }
        for letter, other in issue.get("fragment", {}).items():
            module = Path(self.issues[other]["task"].get("file", "")).stem.replace("{id}", other)
            values |= {f"{{{letter}}}": other, f"{{{letter}:module}}": module}
        values |= {"{file}": task.get("file", ""), "{test}": task.get("test", "")}
        values["{hint}"] = Path(task.get("test", "")).stem
        return {**values, "{id}": alias}

    def filled(self, name: str, value: Any) -> Any:
        """Return a value of the tables with an issue's words in it."""
        text = json.dumps(value)
        if not re.search(r"\{[a-z]", text):
            return value
        for key, word in self.words(name).items():
            if key in text:
                text = text.replace(key, json.dumps(word)[1:-1])
        return json.loads(text)

    def issue(self, name: str) -> dict[str, Any]:
        """Return the record of an issue, and keep what else is known of it."""
        issue = self.issues[name]
        habit, event, task = issue["habit"], issue.get("event", {}), issue["task"]
        if "same" in issue:
            task = self.issues[issue["fragment"][issue["same"]]]["task"]
        front = {**issue.get("front", {}), **habit.get("front", {})}
        if issue["accept"] and "same" not in issue:
            front["accept"] = ["@PYTHON@ -B checks/check_{id}.py"]
        done = issue.get("done") or task.get("done") or f"@PYTHON@ -B - <<'EOF'\n{task['check'].lstrip()}EOF"
        if "done" in event:
            done = f"{event['done']} && {done}"
        turns = issue.get("turn", event.get("turn", habit["turn"]))
        record = {
            "id": name,
            "title": issue.get("title", task.get("title", "")),
            "body": issue.get("body", task.get("body", "")).strip(),
            "front": front,
            "done": done,
            "turn": [self.interrupted(event, turn) for turn in turns],
            "task": task["name"],
            "habit": habit["name"],
            "truth": event.get("truth") or issue.get("truth") or habit["truth"],
            "says": [*habit.get("says", ()), *issue.get("says", ())],
        }
        record |= {key: issue[key] for key in ("raw", "later", "roles") if key in issue}
        kept = {
            key: issue[key] for key in ("fragment", "same", "partner", "event", "accept", "done_before") if key in issue
        }
        record = self.filled(name, record)
        return {"record": record, "task": issue["task"], "habit": habit, "prints": issue.get("prints", ()), **kept}

    def interrupted(self, event: Mapping[str, Any], turn: Mapping[str, Any]) -> dict[str, Any]:
        """Return a turn of the worker during which the event of its issue happens."""
        when = event.get("when", "before")
        if not ({"do", "signal"} & event.keys()) or when == "never" or "turn" in event:
            return dict(turn)
        do = (
            f"meanwhile {event['name']}; {turn['do']}"
            if when == "before"
            else f"{turn['do']}\nmeanwhile {event['name']}"
        )
        return {**turn, "do": f"{do}; sleep 3" if "signal" in event else do}

    def depend(self) -> None:
        """Let issues wait for those that must not or need not land."""
        for _ in self.issues:
            for one in self.issues.values():
                needed = [
                    self.issues[other]["record"]
                    for other in one["record"]["front"].get("depends_on", ())
                    if other in self.issues
                ]
                late = [other["id"] for other in needed if other["truth"] != "right"]
                if late and one["record"]["truth"] in ("right", "held"):
                    one["record"] |= {"truth": "held", "says": [rf"\b{late[0]}\b"]}

    def record(self) -> dict[str, Any]:
        """Return the night's record."""
        issues = [self.issues[name]["record"] for name in sorted(self.issues, key=int)]
        names = {kind: [one["name"] for one in self.events if one["group_of"] == kind] for kind in ("people", "faults")}
        parts = {
            "habits": sorted({one["habit"] for one in issues}),
            **names,
            "backlogs": [fragment["name"] for fragment, _ in self.fragments],
        }
        happened = ", ".join([*parts["backlogs"], *parts["people"], *parts["faults"]])
        night: dict[str, Any] = {
            "name": f"seed-{self.seed}",
            "what": f"{len(issues)} issues, {self.workers} workers: {happened or 'nothing happens'}",
            "group": "generated",
            "workers": self.workers,
            "issue": issues,
            "parts": parts,
            "seconds_max": _SECONDS_MAX,
            "files": {**_FILES, **self.checks()},
            "tools": {**_TOOLS, **self.scripts()},
            "config": self.config(),
            "roles": _ROLES,
            "expect": self.expect(issues),
        }
        return {**night, **self.circumstances()}

    def checks(self) -> dict[str, str]:
        """Return the files that the issues' `accept` names, and the work that is there before."""
        files = {}
        for name, one in self.issues.items():
            task = one["task"]
            if one["accept"] and "same" not in one:
                text = f'import sys\n\nsys.path.insert(0, ".")\n{task["check"].lstrip()}'
                files[f"checks/check_{name}.py"] = text.replace("{id}", name)
            if one.get("done_before"):
                files |= {
                    path.replace("{id}", name): text.replace("{id}", name) for path, text in task["right"].items()
                }
        return files

    def scripts(self) -> dict[str, str]:
        """Return the programs that do an issue's work, right and wrong."""
        tools = {}
        for name, one in self.issues.items():
            task = one["task"]
            for key in ("right", "bad", "other", "sly"):
                work = task.get(key)
                if isinstance(work, Mapping):
                    texts = {**task["right"], **work}
                    work = "mkdir -p shop tests\n" + "".join(
                        f"cat > {path} <<'EOF'\n{text}EOF\n" for path, text in texts.items()
                    )
                if work:
                    tools[f"{key}-{name}"] = work.strip().replace("{id}", name)
        return tools

    def config(self) -> dict[str, Any]:
        """Return what is added to noface.toml."""
        habits = [one["habit"] for one in self.issues.values()]
        slow = any(habit.get("slow") for habit in habits)
        limits = {"timeout": "12s", "idle_timeout": "6s"} if slow else {"timeout": "20s", "idle_timeout": "10s"}
        command = {"agent": "command"} if self.plain else {"agent": "claude"}
        models = {
            size: {**command, **({"command": f"claude -p --model {size}"} if self.plain else {"model": size}),
                   "tier": tier, **limits}
            for tier, size in enumerate(("small", "big"), 1)
        }  # fmt: skip
        retry = {"default_model": "small", **({"escalation_model": "big"} if self.big else {})}
        gates = [{**_UNIT, "timeout": "10s"} if any(h["name"] == "loops-in-a-test" for h in habits) else _UNIT]
        gates += [self.filled(one["issue"], one["gate"]) for one in self.events if "gate" in one]
        gates += [
            self.filled(name, one["habit"]["gate"]) for name, one in self.issues.items() if "gate" in one["habit"]
        ]
        unique = {gate["name"]: {**gate, **_NO_CANARY} for gate in gates}
        config: dict[str, Any] = {"models": models, "retry": retry, "gates": list(unique.values())}
        if any(habit.get("sandbox") for habit in habits):
            config["sandbox"] = {"kind": "auto"}
        return config

    def circumstances(self) -> dict[str, Any]:
        """Return what the events ask of the night."""
        night: dict[str, Any] = {"meanwhile": {}, "run": [{}]}
        afterwards = []
        for event in self.events:
            own = self.filled(
                event["issue"], {key: value for key, value in event.items() if key not in ("issue", "turn")}
            )
            if {"do", "signal"} & own.keys():
                night["meanwhile"][own["name"]] = {key: own[key] for key in ("do", "signal") if key in own}
            for key in ("chances", "files"):
                if key in own:
                    night[key] = {**night.get(key, {}), **own[key]}
            for key in ("provider", "may_change"):
                if key in own:
                    night[key] = [*night.get(key, ()), *own[key]]
            night |= {key: own[key] for key in ("tests_run", "tests_back") if key in own}
            if isinstance(own.get("needs"), str):
                night["needs"] = own["needs"]
            if "prepare" in own:
                night["prepare"] = f"{night.get('prepare', 'true')}; {own['prepare']}"
            if "run" in own:
                night["run"] = [own["run"]]
            if "again" in own:
                afterwards.append(own["again"])
        if "files" in night:
            night["files"] = {**_FILES, **self.checks(), **night["files"]}
        if any(one["habit"].get("sandbox") for one in self.issues.values()):
            night["needs"] = "bwrap"
        night["run"] += [{"before": "\n".join(afterwards)}] * len(afterwards)
        return night

    def expect(self, issues: list[dict[str, Any]]) -> dict[str, Any]:
        """Return what a person wants to find in the morning, as the truth has it."""
        by = {
            truth: [one["id"] for one in issues if one["truth"] == truth]
            for truth in ("right", "wrong", "gone", "unseen")
        }
        why = {one["id"]: one["says"] for one in issues if one["says"] and one["truth"] != "right"}
        holds = {}
        for event in self.events:
            for what, script in self.filled(event["issue"], event.get("holds", {})).items():
                happened = f"[ ! -e @FOLDER@/world/asks/{event['name']}.done ]" if "do" in event else "false"
                holds[what] = f"{happened} || {{ {script}; }}"
        faults: dict[str, dict[str, str]] = {
            "harm": {"a conflict's markers are on main": "git grep -q '^<<<<<<< '"},
            "untidy": {},
        }
        for name, one in self.issues.items():
            for kind in faults:
                faults[kind] |= self.filled(name, one["habit"].get(kind, {}))
        calls = sum(_CALLS.get({"right": "must", "held": "free"}.get(one["truth"], one["truth"]), 7) for one in issues)
        prints = [pattern for name, one in self.issues.items() for pattern in self.filled(name, list(one["prints"]))]
        return {
            "landed": by["right"],
            "unmerged": [*by["wrong"], *by["gone"]],
            "unseen": by["unseen"],
            "status": dict.fromkeys(by["wrong"], "blocked|approval"),
            "why": why,
            "one_of": [ids for fragment, ids in self.fragments if fragment.get("one_of")],
            "holds": holds,
            **faults,
            "calls_max": {"all": calls},
            "hours_max": _HOURS_MAX,
            "prints": prints,
        }


def placeholders(night: Mapping[str, Any]) -> set[str]:
    """Return the placeholders that are left in a night: none, if the tables are right."""
    return set(re.findall(r"\{[a-z]+(?::[a-z]+)?\}", json.dumps({**night, "files": {}, "tools": {}})))
