"""The published schemas describe what noface really writes: real runs, documents and calls are held against them.

A schema that forgets a field, or keeps one that is gone, fails here; so does an event that no schema knows.
"""

import ast
import json
import signal
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from support.cases import first_ones

import noface
from noface.data import table
from noface.model.taxonomy import IssueStatus
from noface.prompts.answers.forms import example_of, schema_of
from noface.prompts.answers.report import find_report
from noface.ui.published import SCHEMAS, published

KEYS = Path(__file__).parent / "pages" / "schemas.txt"
ENVELOPE = {"schema", "at", "event", "issue"}
EVENTS = published("events")["$defs"]
SECRET = "sk-0123456789abcdef0123456789abcdef"


VALIDATORS = {name: Draft202012Validator(published(name)) for name in SCHEMAS}
OF_KIND = {kind: Draft202012Validator(schema) for kind, schema in EVENTS.items()}


def faults(name, value):
    """What breaks a published schema, in words; of an event, what breaks the schema of its kind."""
    meant = VALIDATORS[name] if name != "events" else OF_KIND.get(value.get("event", "error"))
    if meant is None:
        return [f"no schema knows the event {value['event']}"]
    found = []
    for error in meant.iter_errors(value):
        deeper = [f"{each.json_path} {each.message[:300]}" for each in error.context or ()]
        found.append(f"{error.json_path}: {error.message[:300]} {deeper[:6]}")
    if not found and not VALIDATORS[name].is_valid(value):
        found.append("the schema as a whole knows no such line, or more than one")
    return found


def lines_of(text):
    return [json.loads(line) for line in text.splitlines()]


def told(project, *args, code=0, **env):
    """What a run prints with --json; each line is as the schema says."""
    done = project.noface("run", "--json", *args, **env)
    assert done.returncode == code, f"exit {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr}"
    lines = lines_of(done.stdout)
    assert [fault for line in lines for fault in faults("events", line)] == []
    return lines


def fields(schema):
    return set(schema["properties"]) - ENVELOPE


# Runs of every kind. Each returns the lines it printed, after it has been held against the schemas.


def landing(project):
    slow = '[[failure_hints]]\nerror_regex = "(a+)+$"\nhint = "x"\n[recovery]\naccumulation_format = "full_output"\n'
    red = "FAIL: got " + "a" * 5000 + "!, want good"
    project.config(slow, gate=f"test ! -e bad || {{ echo '{red}'; exit 1; }}")
    project.play(
        ("1", 1, [{"write": "bad", "text": "x"}, {"say": json.dumps(example_of("report"))}]),
        ("1", 2, [{"shell": "rm -f bad"}, {"write": "one.txt", "text": "1"}]),
        ("2", 0, [{"say": "no idea"}]),
    )
    project.issue(1, priority=0, labels=["bug"], paths=["bad", "one.txt"])
    project.issue(2)
    project.issue(3, depends_on=["2"])
    project.issue(4, accept=["test -e a.txt"])
    project.write("issues/5-broken.md", "+++\ntitle = 7\n+++\n")
    project.commit()
    return told(project, code=3)


def questions(project):
    wise = f'[models.wise]\nagent = "scripted"\ncommand = "{project.script}"\ntier = 3\n[roles]\nreviewer = "wise"\n'
    project.config(f'{wise}[review]\nwhen = "always"\n')
    points = [{"file": "b.txt", "line": 1, "problem": "must say please"}]
    first = {"verdict": "request_changes", "summary": "not yet", "points": points}
    keep = project.folder / "asked.json"
    project.play(
        ("7", 1, [{"write": "b.txt", "text": "b"}]),
        ("7", 1, [{"shell": f"cp $NOFACE_ORDER_FILE {keep}"}, {"say": json.dumps(first)}], "review"),
        ("7", 2, [{"write": "b.txt", "text": "please b"}]),
        ("7", 2, [{"say": json.dumps({"verdict": "approve", "summary": "fine"})}], "review"),
    )
    project.issue(7, body="Do it. " + "And this. " * 30_000 + f"The key is {SECRET}.")
    project.commit()
    return told(project, REVIEW_API_KEY=SECRET)


def dividing(project):
    planner = f'[models.wise]\nagent = "scripted"\ncommand = "{project.script}"\ntier = 3\n[roles]\nplanner = "wise"\n'
    project.config(f'{planner}[retry.strategies]\nRUNTIME_ERROR = "breakdown"\n', gate="test ! -e x/bad")
    too_much = {"status": "partial", "summary": "too much", "gaps": ["no sample"]}
    both = [{"write": "x/c", "text": "e"}, {"write": "y/d", "text": "d"}]
    project.play(
        ("7", 1, [*[{"write": path, "text": "c"} for path in ("x/c", "y/d", "x/bad")], {"say": json.dumps(too_much)}]),
        ("7", 1, [{"say": "I would divide it."}], "breakdown"),
        ("7.1", 0, [{"shell": "rm -f x/bad"}, {"write": "x/c", "text": "c"}]),
        ("7.2", 0, [{"say": "no idea"}]),
        ("7", 2, [{"shell": "rm -f x/bad"}, *both, {"say": json.dumps({"status": "done"})}]),
    )
    project.issue(7, paths=["x", "y"])
    project.commit()
    return told(project)


def people(project):
    project.config('[approval]\npaths = ["b.*"]\n[recovery]\naccumulation_format = "minimal"\n')
    needs = {"status": "blocked", "blocked_reason": "dependency_issue", "summary": "needs 8", "needs": ["8"]}
    project.play(
        ("7", 1, [{"say": json.dumps(needs)}]),
        ("7", 2, [{"write": "b.txt", "text": "b"}]),
        ("8", 0, [{"write": "eight.txt", "text": "8"}]),
    )
    project.issue(7, priority=0)
    project.issue(8)
    project.commit()
    lines = told(project, code=3)
    assert hold_documents(project) == []
    assert project.noface("reject", "7", "--note", "use c.txt").returncode == 0
    project.play(("7", 0, [{"write": "c.txt", "text": "c"}, {"delete": "b.txt"}]))
    return lines + told(project)


STARTS = {"run_started", "preflight", "keys_unseen", "progress", "summary", "run_ended"}
ALWAYS = STARTS | {"main_passes"}
WORK = ALWAYS | {"issue_running", "attempt_started", "attempt_finished", "action", "issue_landing", "issue_merged"}
RUNS = {
    landing: WORK
    | {"issue_ready", "lesson_learnt", "issue_blocked", "issue_skipped", "hint_too_slow", "approval_requested"},
    dividing: WORK | {"broken_down", "issue_epic", "planner_failed", "parts_failed"},
    questions: WORK | {"asked", "answered", "attempt_overruled", "prompt_cut"},
    people: WORK | {"approval_requested", "issue_approval", "dependency_found", "issue_waiting"},
}


def hold_documents(project):
    """What breaks the schemas in what people and workers can read of a project as it stands."""
    documents = [("status", project.shown("status")), ("blocked", project.shown("blocked"))]
    documents += [("show", project.shown("show", issue["id"])) for issue in documents[0][1]["issues"]]
    orders = sorted(project.state.glob("attempts/**/order.json"))
    documents += [("order", json.loads(path.read_text())) for path in orders]
    return [f"{name}: {fault}" for name, document in documents for fault in faults(name, document)]


def hold_run(project, play, lines):
    seen = {line["event"]: line for line in lines if "event" in line}
    assert RUNS[play] - seen.keys() == set()
    assert hold_documents(project) == []
    for kind, line in seen.items():
        hold_fields(line, OF_KIND[kind])
    hold_fields(seen["run_ended"], VALIDATORS["events"])  # no event of another kind either


def hold_fields(line, schema):
    """A field that is missing, of another type, or not described breaks the schema."""
    for key in line:
        assert not schema.is_valid(line | {key: {"of": "another type"}})
        assert not schema.is_valid({name: value for name, value in line.items() if name != key})
    assert not schema.is_valid(line | {"new": 1})


@pytest.mark.parametrize("play", first_ones(RUNS, 1), ids=lambda play: play.__name__)
def test_what_a_real_run_tells_and_leaves_is_as_the_schemas_say(project, play):
    hold_run(project, play, play(project))


# What the code says


def modules_with(*words):
    """Yield each module of noface with one of the words, and what it parses to."""
    for path in Path(noface.__file__).parent.rglob("*.py"):
        text = path.read_text()
        if any(word in text for word in words):
            yield path, ast.parse(text)


def told_fields(call, function):
    """The names of the fields that a call gives an event, `**said` looked up in the function around it."""
    if call.func.attr == "announce":
        return keys_of(call.args[2], function)
    named = {keyword.arg for keyword in call.keywords if keyword.arg is not None}
    return named.union(*(keys_of(keyword.value, function) for keyword in call.keywords if keyword.arg is None))


def keys_of(value, function):
    """The keys of a dict that is written down there, or of the one that a name stands for."""
    if isinstance(value, ast.Name):
        assigned = (node for node in ast.walk(function) if isinstance(node, ast.Assign))
        (value,) = (node.value for node in assigned if ast.unparse(node.targets[0]) == value.id)
    keys = {key.value for key in value.keys if key is not None}
    spread = (part for key, part in zip(value.keys, value.values, strict=True) if key is None)
    return keys.union(*(keys_of(part, function) for part in spread))


def calls():
    """Each call of noface's code that tells of an event: the kinds it may have, its fields, and where it stands."""
    meant = {
        "f'issue_{status}'": {f"issue_{status}" for status in IssueStatus},
        "verdict.value": {"approved", "rejected"},
    }
    for path, tree in modules_with("event(", "announce("):
        for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            for call in (node for node in ast.walk(function) if isinstance(node, ast.Call)):
                place = {"event": 1, "announce": 0, "log_event": 0}.get(getattr(call.func, "attr", ""))
                if place is None or not ast.unparse(call.func.value).endswith(("journal", "self", "context")):
                    continue
                if function.name == "log_event":  # hands on what it gets
                    continue
                kind = call.args[place]
                found = {kind.value} if isinstance(kind, ast.Constant) else meant[ast.unparse(kind)]
                yield found, told_fields(call, function), f"{path.name}:{call.lineno}"


def test_every_call_that_tells_of_an_event_gives_the_fields_of_its_schema():
    found = list(calls())
    wrong = [
        f"{where}: {kind} with {sorted(given)}"
        for known, given, where in found
        for kind in known
        if kind not in EVENTS or fields(EVENTS[kind]) != given
    ]
    assert wrong == []
    assert set().union(*(known for known, _, _ in found)) == set(table("events"))


def test_the_phases_of_progress_are_those_that_the_code_names():
    found = set()
    for _, tree in modules_with("rogress("):
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2].endswith("rogress"):
                phases_given = node.args[:1] if len(node.args) == len(("phase", "text")) else node.args[2:3]
                found.update(phase.value for phase in phases_given if isinstance(phase, ast.Constant))
    assert found == set(table("events")["progress"]["fields"]["phase"]["words"])


# What the schemas say of themselves


def objects(schema):
    """Every schema of an object within a schema."""
    if isinstance(schema, list):
        for part in schema:
            yield from objects(part)
    elif isinstance(schema, dict):
        if "properties" in schema or "additionalProperties" in schema:
            yield schema
        for key, part in schema.items():
            if key not in ("if", "then", "examples"):  # rules about other keys, and values
                yield from objects(part)


def keys(schema, path=""):
    """Each key of a document by its path, with its types."""
    for part in schema.get("oneOf", ()):
        yield from keys(part, path)
    for key, rule in schema.get("properties", {}).items():
        kinds = rule.get("type", "words" if "enum" in rule else "const" if "const" in rule else "one of")
        yield f"{path}.{key}: {kinds if isinstance(kinds, str) else ' or '.join(kinds)}"
        yield from keys(rule, f"{path}.{key}")
    for below in (schema.get("items"), schema.get("additionalProperties")):
        if isinstance(below, dict):
            yield from keys(below, f"{path}[]")


def keys_of_all():
    """The keys of all documents but the events, which data/events.toml lists."""
    names = [name for name in SCHEMAS if name != "events"]
    lines = [f"{name} {line}" for name in names for line in keys(published(name)) if ".schema: const" not in line]
    return "\n".join(lines) + "\n"


def test_the_keys_of_published_schemas_are_as_they_were_read():
    """Renewed by `PYTHONPATH=tests python tests/ui/test_schemas.py`."""
    assert keys_of_all() == KEYS.read_text()


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_published_schema_is_sound_and_says_what_each_key_is_for(name):
    schema = published(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert schema["$id"] == f"urn:noface:{name}:1"
    bare = [
        key
        for each in objects(schema)
        for key, rule in each.get("properties", {}).items()
        if not rule.get("description", "").strip() and "const" not in rule
    ]
    assert bare == []


@pytest.mark.parametrize("name", [name for name in SCHEMAS if name != "report"])
def test_an_object_of_a_published_schema_holds_no_key_that_is_not_described(name):
    found = list(objects(published(name)))
    records = [each for each in found if "properties" in each]
    assert records
    assert [each for each in records if each["additionalProperties"] is not False] == []
    maps = [each for each in found if "properties" not in each]
    assert [each for each in maps if not isinstance(each["additionalProperties"], dict)] == []


def test_the_published_schema_of_the_report_is_the_one_that_reports_are_checked_by():
    schema = published("report")
    bare = {key: {k: v for k, v in rule.items() if k != "description"} for key, rule in schema["properties"].items()}
    added = {"$id", "description"}
    assert {key: value for key, value in (schema | {"properties": bare}).items() if key not in added} == schema_of(
        "report"
    )


def test_a_report_that_satisfies_its_schema_is_read_and_one_that_does_not_is_not():
    for value, sound in (
        (example_of("report"), True),
        ({"status": "blocked", "summary": "x"}, False),
        ({"status": "done"}, True),
    ):
        report, invalid = find_report(f"Well.\n```json\n{json.dumps(value)}\n```\n")
        assert (faults("report", value) == []) is sound
        assert (report is not None, invalid is None) == (sound, sound)


# What was mended so that one form holds


def test_a_model_that_is_asked_finds_its_question_in_the_order_without_the_secrets_of_the_run(project):
    lines = questions(project)
    hold_run(project, questions, lines)
    cuts = {(line["number"], line["topic"]) for line in lines if line["event"] == "prompt_cut"}
    assert cuts >= {(1, None), (None, "review")}, "the cuts of a worker's prompt and of a question's have one form"
    order = json.loads((project.folder / "asked.json").read_text())
    assert faults("order", order) == []
    assert (order["role"], order["topic"], order["attempt"], order["model"]["name"]) == (
        "reviewer",
        "review",
        1,
        "wise",
    )
    assert order["gates"] == []
    assert "The key is " in order["issue"]["body"]
    assert SECRET not in json.dumps(order)


def test_a_model_that_is_only_tried_finds_an_order_of_the_same_form(project):
    keep = project.folder / "tried.json"
    project.config(f'[models.mine]\nagent = "command"\ncommand = "cp $NOFACE_ORDER_FILE {keep}"\n')
    project.noface("doctor", "--probe", "--model", "mine")
    order = json.loads(keep.read_text())
    assert faults("order", order) == []
    assert (order["issue"]["id"], order["model"]["name"]) == ("question", "mine")


def test_a_run_that_is_interrupted_before_it_works_tells_the_exit_code_it_has(project):
    project.config(gate="sleep 60")
    project.issue(7)
    project.commit()
    with project.start("run", "--json") as run:
        lines = []
        for line in run.stdout:
            lines.append(json.loads(line))
            if lines[-1]["event"] == "preflight":
                run.send_signal(signal.SIGINT)
        assert run.wait(60) == 130
    assert (lines[-1]["event"], lines[-1]["exit_code"]) == ("run_ended", 130)
    assert [fault for line in lines for fault in faults("events", line)] == []


def test_a_run_that_cannot_begin_prints_an_error_as_its_only_line(project):
    (line,) = told(project, "--config", "nowhere.toml", code=2)
    assert faults("error", line) == []
    assert line["error"]["code"] == 2


# The command


def test_a_schema_is_printed_as_json_in_any_case_and_without_a_repository(project):
    project.path = project.folder
    done = project.noface("tools", "schema", "ORDER")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == published("order")


def test_an_unknown_name_is_told_with_the_nearest_one(project):
    done = project.noface("tools", "schema", "event")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"Did you mean events? The schemas: {', '.join(SCHEMAS)}." in done.stderr
    failed = project.noface("tools", "schema", "event", "--json")
    assert faults("error", json.loads(failed.stdout)) == []


if __name__ == "__main__":
    KEYS.write_text(keys_of_all())
