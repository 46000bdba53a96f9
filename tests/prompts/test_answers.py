"""The forms of answer: schemas that are published, examples that satisfy them, and what is read of an answer."""

import json

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.cases import cases

from noface.model.history import Advice, AdviceOutcome, Topic
from noface.model.taxonomy import DiagnosisStrategy
from noface.model.worker_run import BlockedReason, Question, ReportStatus, WorkerReport
from noface.prompts.answers.forms import ANSWERS, example_of, schema_of
from noface.prompts.answers.report import find_report, unreadable
from noface.prompts.structured import Invalid, reminder, validate

FORMS = {form.name: (form.schema, form.example) for form in ANSWERS.values()} | {
    "report": (schema_of("report"), example_of("report"))
}


def answered(topic, value, **more):
    form = ANSWERS[topic]
    found = validate(f"```json\n{json.dumps(value)}\n```", form.schema, form.name)
    assert isinstance(found, dict), found
    advice = form.read(found, **({"after": 3, "epoch": 1, "model": "big"} | more))
    assert (advice.topic, advice.after, advice.epoch, advice.model) == (topic, 3, 1, "big")
    assert advice.outcome is AdviceOutcome.ADVISED
    return advice


def refused(topic, value):
    found = validate(json.dumps(value), ANSWERS[topic].schema, topic)
    assert isinstance(found, Invalid), found
    return found.violation


def diagnosis(strategy, **more):
    return {"cause": "c", "recoverable": "maybe", "strategy": strategy} | more


@pytest.mark.parametrize("name", FORMS)
def test_every_schema_is_sound_and_its_example_satisfies_it(name):
    schema, example = FORMS[name]
    jsonschema.Draft202012Validator.check_schema(schema)
    assert json.loads(json.dumps(schema)) == schema
    assert isinstance(validate(json.dumps(example), schema, name), dict)
    text = reminder(Invalid("v"), name, schema)
    assert json.loads(text.rpartition("```json\n")[2].partition("\n```")[0]) == example


@pytest.mark.parametrize(
    ("name", "key", "words"),
    [
        ("diagnosis", "strategy", DiagnosisStrategy),
        ("report", "status", ReportStatus),
        ("report", "blocked_reason", [*BlockedReason, None]),
    ],
)
def test_a_schema_lists_the_words_that_the_code_reads(name, key, words):
    assert schema_of(name)["properties"][key]["enum"] == list(words)


def strings_without_bound(schema):
    kinds = schema.get("type", [])
    found = []
    if "string" in kinds and "maxLength" not in schema and "enum" not in schema:
        found.append(schema)
    if "array" in kinds and "maxItems" not in schema:
        found.append(schema)
    inner = [schema["items"]] if "items" in schema else []
    for part in (*schema.get("properties", {}).values(), *inner):
        found += strings_without_bound(part)
    return found


@pytest.mark.parametrize("name", FORMS)
def test_every_string_and_list_of_an_answer_is_bounded(name):
    assert strings_without_bound(FORMS[name][0]) == []


def test_every_topic_that_a_model_is_asked_about_has_a_form():
    assert set(ANSWERS) == set(Topic) - {Topic.DEPENDENCY}
    for topic, form in ANSWERS.items():
        advice = answered(topic, form.example)
        assert isinstance(advice, Advice)
        assert advice.text


@pytest.mark.parametrize("topic", ANSWERS)
def test_a_key_that_nobody_asked_for_is_named(topic):
    assert "'frobnicate' was unexpected" in refused(topic, dict(ANSWERS[topic].example) | {"frobnicate": 1})


def test_a_diagnosis_proposes_another_approach():
    advice = answered(Topic.DIAGNOSIS, diagnosis("alternative_approach", alternative="Go round it.", recoverable="yes"))
    assert (advice.cause, advice.recoverable, advice.strategy) == ("c", "yes", "alternative_approach")
    assert advice.text == "Another approach: Go round it."
    assert advice.delay_s is None


def test_the_same_proposal_with_another_cause_is_the_same_argument():
    one = answered(Topic.DIAGNOSIS, diagnosis("alternative_approach", alternative="Go round it.", cause="a"))
    two = answered(Topic.DIAGNOSIS, diagnosis("alternative_approach", alternative="Go  round it.", cause="b"))
    assert one.repeats(two)


SAME_ADVICE = [
    ("Use port 0 instead of 8080 in server.py.", "In server.py, take port 0, not port 8080, instead."),
    (
        "The test expects UTC; convert to UTC before formatting in dates.py.",
        "Convert the timestamp to UTC before it is formatted in dates.py.",
    ),
    ("Delete the stale cache before the build.", "Before the build, delete the cache, which is stale."),
    ("Make strange.sh executable.", "make  strange.sh executable"),
    (
        "Register the handler in app.setup() before the first request.",
        "Call app.setup() to register that handler first.",
    ),
    ("Read the environment lazily.", "The environment should be read lazily, not at import."),
]
OTHER_ADVICE = [
    ("Use port 0 in server.py.", "Use port 1 in server.py."),
    ("In dates.py, round with floor.", "In dates.py, round with ceil."),
    ("Delete the stale cache before the build.", "Raise the timeout of the build to 60 s."),
    ("Mend src/a.py.", "Mend src/b.py."),
    ("Go round it.", "Go under it."),
    ("Do it.", "Leave everything alone."),
    ("Catch the error in the loop.", "Validate the input first, where it is read."),
    ("Rename parse_line to read_line.", "Rename parse_line to line_of."),
]


def test_advice_in_other_words_is_the_same_and_advice_about_something_else_is_not():
    def repeats(one, two):
        first = answered(Topic.DIAGNOSIS, diagnosis("alternative_approach", alternative=one))
        second = answered(Topic.DIAGNOSIS, diagnosis("retry_modified", modified=two))
        return second.repeats(first) and first.repeats(second)

    assert [pair for pair in SAME_ADVICE if not repeats(*pair)] == []
    assert [pair for pair in OTHER_ADVICE if repeats(*pair)] == []


def test_a_diagnosis_changes_arguments_in_two_forms():
    told = answered(Topic.DIAGNOSIS, diagnosis("retry_modified", modified={"command": "npm ci", "folder": "web"}))
    assert told.text == "The same with these changes:\n- command: npm ci\n- folder: web"
    assert "use npm ci" in answered(Topic.DIAGNOSIS, diagnosis("retry_modified", modified="use npm ci")).text


def test_a_delay_counts_for_the_same_again_only():
    assert answered(Topic.DIAGNOSIS, diagnosis("retry_same", delay_s=5)).delay_s == 5.0
    assert answered(Topic.DIAGNOSIS, diagnosis("retry_same")).delay_s is None
    assert answered(Topic.DIAGNOSIS, diagnosis("escalate", delay_s=5)).delay_s is None


def test_a_diagnosis_asks_for_a_person_and_says_what_is_needed():
    assert answered(Topic.DIAGNOSIS, diagnosis("escalate", alternative="A key.")).text == "What is needed: A key."
    assert answered(Topic.DIAGNOSIS, diagnosis("escalate", alternative=None, modified=None)).text == ""
    assert answered(Topic.DIAGNOSIS, diagnosis("skip_and_continue", skip_reason="Done.")).text.endswith(": Done.")


@cases(
    ("value", "said"),
    [
        (
            diagnosis("pray"),
            'at strategy: expected one of "alternative_approach", "retry_modified", "skip_and_continue", "escalate", "retry_same", got "pray"',
        ),
        (diagnosis("alternative_approach"), "'alternative' is a required property"),
        (diagnosis("alternative_approach", alternative=None), "at alternative: expected string, got null"),
        (diagnosis("alternative_approach", alternative="  "), "at alternative: expected a text that is not blank"),
        (diagnosis("retry_modified"), "'modified' is a required property"),
        (diagnosis("retry_modified", modified={}), "at modified: minProperties is 1, got {}"),
        (diagnosis("retry_modified", modified={"a": 1}), "at modified.a: expected string, got integer 1"),
        (diagnosis("skip_and_continue"), "'skip_reason' is a required property"),
        (diagnosis("retry_same", delay_s=86_401), "at delay_s: maximum is 86400"),
        (diagnosis("retry_same", delay_s=-1), "at delay_s: minimum is 0, got -1"),
        (diagnosis("retry_same", recoverable="perhaps"), 'expected one of "yes", "no", "maybe", got "perhaps"'),
        (diagnosis("retry_same", cause=" "), "at cause: expected a text that is not blank"),
        (diagnosis("retry_same", confidence=2), "at confidence: maximum is 1, got 2"),
    ],
)
def test_a_diagnosis_that_cannot_be_followed_says_what_is_missing(value, said):
    assert said in refused(Topic.DIAGNOSIS, value)


def test_a_reflection_tells_why_and_what_next():
    advice = answered(Topic.REFLECTION, {"why": "I guessed.", "plan": "I look first."})
    assert advice.cause == "I guessed."
    assert advice.text == "Why the last attempt failed: I guessed.\nPlan: I look first."


def test_a_clarification_answers_and_names_files():
    advice = answered(
        Topic.CLARIFICATION,
        {
            "summary": "ISO.",
            "answers": [{"question": "Which?", "answer": "This."}, {"question": "When?", "answer": "Now."}],
            "files": ["./docs/a.md", "docs/a.md", "src/"],
        },
    )
    assert advice.text == "Summary: ISO.\nQ: Which?\nA: This.\nQ: When?\nA: Now."
    assert advice.paths == ("docs/a.md", "src")


def test_a_resolver_widens_redesigns_or_asks_for_a_person():
    wider = answered(
        Topic.BOUNDARY,
        {"resolution": "expand", "paths": ["src/b.py"], "guidance": "One field.", "recheck": ["12", "7"]},
    )
    assert (wider.strategy, wider.paths) == ("expand", ("src/b.py",))
    assert wider.text == (
        "Resolution: expand\nPaths that may be changed as well: src/b.py\nGuidance: One field.\n"
        "Issues to verify again: 12, 7"
    )
    assert wider.recheck == ("12", "7")
    other = answered(Topic.BOUNDARY, {"resolution": "redesign", "guidance": "Inside.", "paths": ["src/c.py"]})
    assert (other.strategy, other.paths) == ("redesign", ())
    assert answered(Topic.BOUNDARY, {"resolution": "person", "guidance": "Ask."}).strategy == "person"


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"resolution": "expand", "guidance": "g"}, "'paths' is a required property"),
        ({"resolution": "expand", "guidance": "g", "paths": []}, "at paths: minItems is 1, got []"),
        ({"resolution": "expand", "guidance": "g", "paths": ["../b"]}, 'must not hold ".."'),
        ({"resolution": "expand", "guidance": "g", "paths": ["/etc/passwd"]}, "is not relative"),
        ({"resolution": "expand", "guidance": "g", "paths": ["."]}, "means everything"),
        ({"resolution": "expand", "guidance": "g", "paths": ["**"]}, "means everything"),
        ({"resolution": "expand", "guidance": "g", "paths": ["a/.git/config"]}, "git's own folder"),
        ({"resolution": "allow", "guidance": "g"}, 'expected one of "expand", "redesign", "person", got "allow"'),
        ({"resolution": "person", "guidance": "g", "recheck": ["a b"]}, "the id 'a b' is not usable"),
    ],
)
def test_a_resolution_outside_the_repository_or_the_list_is_refused(value, said):
    assert said in refused(Topic.BOUNDARY, value)


def test_guidance_on_a_conflict_names_its_files():
    advice = answered(Topic.MERGE_CONFLICT, {"guidance": "Keep both.", "files": ["a.py", "b.py"]})
    assert (advice.text, advice.paths) == ("Guidance: Keep both.\nFiles: a.py, b.py", ("a.py", "b.py"))


def test_an_architect_gives_an_approach_in_steps():
    advice = answered(
        Topic.ARCHITECT, {"assessment": "Wrong end.", "approach": "Right end.", "steps": ["One.", "Two."]}
    )
    assert advice.cause == "Wrong end."
    assert advice.text == "Assessment: Wrong end.\nApproach: Right end.\nSteps:\n- One.\n- Two."


def test_a_breakdown_as_advice_only_tells_its_titles():
    advice = answered(Topic.BREAKDOWN, ANSWERS[Topic.BREAKDOWN].example)
    assert advice.text == "Proposed parts:\n- Read quoted fields\n- Keep quotes when parsing"
    assert advice.paths == ()


def test_a_workers_report_is_found_in_its_last_message():
    found, invalid = find_report(
        'All done.\n```json\n{"status": "done", "summary": " It works. ", "unverified": ["all"]}\n```'
    )
    assert invalid is None
    assert found == WorkerReport(ReportStatus.DONE, "It works.", ("all",))


def test_a_blocked_worker_says_why_and_what_it_needs():
    text = json.dumps(
        {
            "status": "blocked",
            "blocked_reason": "dependency_issue",
            "needs": ["12"],
            "gaps": ["no schema", " "],
            "questions": ["Which?"],
            "risks": ["slow"],
            "mood": "fine",
        }
    )
    assert find_report(text) == (
        WorkerReport(
            ReportStatus.BLOCKED,
            risks=("slow",),
            gaps=("no schema",),
            questions=(Question("Which?"),),
            blocked_reason=BlockedReason.DEPENDENCY_ISSUE,
            needs=("12",),
        ),
        None,
    )


@cases(
    "text",
    [
        "",
        "NOT APPROVED",
        "status: done",
        'The status is "done".',
        '{"verdict": "APPROVED"}',
        'The endpoint answers {"status": "ok", "uptime": 3} now.',
        'It fails with {"status": 500}.',
        '{"state": {"status": "done"}}',
        'if (x) { "status" }',
        'The endpoint answers {"status": "ok", ',
        '{"job": {"status": "blocked", \'x\': 1}}',
        "The reducer sets { status: 'done' } now.",
    ],
)
def test_a_message_without_a_report_is_no_failure(text):
    assert find_report(text) == (None, None)


@cases(
    ("text", "said"),
    [
        (
            '{"status": "finished", "summary": "s"}',
            'at status: expected one of "done", "partial", "blocked", "already_done", "too_large", got "finished"',
        ),
        ('{"status": "DONE"}', 'got "DONE"'),
        ('{"status": "blocked"}', "'blocked_reason' is a required property"),
        ('{"status": "blocked", "questions": [""]}', "'blocked_reason' is a required property"),
        ('{"status": "blocked", "blocked_reason": null}', 'expected one of "boundary_violation", "contract_change"'),
        ('{"status": "blocked", "blocked_reason": "bored"}', 'got "bored"'),
        ('{"status": "blocked", "questions": [{"who": "me"}]}', "'blocked_reason' is a required property"),
        ('{"status": "done", "risks": "none"}', 'at risks: expected array, got string "none"'),
        ('{"status": "done", "needs": ["../12"]}', "the id '../12' is not usable"),
        ('{"status": "done", "status": "blocked"}', 'the key "status" stands twice'),
        ('{"status": "done", "summary": "s",}', "malformed JSON at line 2"),
        ('{"status": "done", "summary": "I was cut', "truncated JSON"),
        ('{"status": "partial"', "truncated JSON"),
    ],
)
def test_a_report_that_was_tried_and_is_wrong_says_what(text, said):
    found, invalid = find_report(f"Report:\n{text}")
    assert found is None
    assert said in invalid.violation
    assert invalid.name == "report"
    assert text in invalid.original


def test_the_last_report_counts_and_other_objects_do_not_hide_it():
    text = '{"status": "partial"} then {"status": "done"}\nThe API gives {"status": "ok"}.\n```json\n{"port": 80}\n```'
    assert find_report(text)[0].status is ReportStatus.DONE
    fenced = '```json\n{"status": "done"}\n```\nas in the example {"status": "partial"}'
    assert find_report(fenced)[0].status is ReportStatus.DONE


def test_a_report_that_is_cut_off_does_not_leave_the_example_in_its_place():
    found, invalid = find_report('The form is {"status": "done"}.\n\n{"status": "blocked", "blocked_reas')
    assert found is None
    assert invalid.actual_type == "truncated"


@cases(
    ("text", "status"),
    [
        ('{"status": "blocked", "questions": ["Which port?", "Wh', "blocked"),
        ('{"status": "done", "summary": "a "quoted" word", "questions": []}', "done"),
        ('{"status": "finished", "questions": ["Which?"]}', None),
        ('{"status": "partial", "questions": ["Which?"], "summary": "not "status": "done" yet', "partial"),
        ('{"questions": ["Is it done?"], "status": do', None),
    ],
)
def test_what_can_be_read_of_a_broken_report_never_says_more_than_its_text(text, status):
    assert unreadable(f"Well.\n{text}\n", Invalid("wrong"))[1] == status


def test_what_holds_no_report_gives_nothing_to_read():
    failure, status = unreadable("no object", Invalid("wrong", original="no"))
    assert (status, failure.evidence, failure.excerpt) == (None, ("wrong",), "no")
    assert (failure.expected_type, failure.actual_type) == ("object", "none")


WORDS = st.sampled_from([*schema_of("report")["properties"], "done", "blocked", "partial", "unclear", "x", ""])
PARTS = st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.lists(WORDS, max_size=3)


@settings(deadline=None)  # the first call imports jsonschema
@given(st.dictionaries(WORDS, PARTS, max_size=6), st.text(max_size=20), st.integers(0, 60))
def test_any_report_is_read_or_told_or_absent_and_never_both(value, prose, cut):
    text = prose + json.dumps(value)
    for message in (text, text[: len(text) - cut], prose):
        found, invalid = find_report(message)
        assert found is None or invalid is None
        if unreadable(message, Invalid("wrong"))[1] is ReportStatus.DONE:
            assert '"done"' in message
        if found is not None:
            assert value["status"] == found.status
