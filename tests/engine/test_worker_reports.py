"""What becomes of a worker's report that breaks its form: one reminder, and its questions are kept."""

CUT_OFF = (
    '{"status": "blocked", "blocked_reason": "unclear", "questions": ["Which port does the service listen on?", "Wh'
)
PARTIAL = '{"status": "partial", "summary": "half of it", "questions": ["Is the old format still read?"],}'
UNCLEAR = '{"status": "blocked", "blocked_reason": "unclear", "summary": "which?", "gaps": ["no sample of the format"]}'
DONE = '{"status": "done", "summary": "all of it",}'
WHOLE = '{"status": "done", "summary": "all of it"}'


def test_a_plain_worker_that_asks_about_its_work_is_answered_and_not_called_lazy_or_broken(project):
    asks = "Which of the two formats is meant?"
    project.config(
        f'[models.asks]\nagent = "command"\ncommand = "echo looked at it; echo \'{asks}\'"\n'
        f'[models.fails]\nagent = "command"\ncommand = "echo \'{asks}\' >&2; exit 2"\n'
        f'[models.crashes]\nagent = "command"\ncommand = "echo \'{asks}\'; echo boom >&2; exit 2"\n'
        '[models.prompts]\nagent = "command"\ncommand = "printf \'Overwrite it? [y/N] \'; exit 2"\n'
        f'[models.works]\nagent = "command"\ncommand = "echo > b.txt; echo \'{asks}\'"\n'
        '[models.halts]\nagent = "command"\ncommand = "cat halts.json"\n'
    )
    project.write("halts.json", '{"status": "partial", "questions": ["Which of the two?"]}')
    models = ("asks", "fails", "crashes", "prompts", "works", "halts")
    for number, model in enumerate(models):
        project.issue(number, model=model, max_attempts=1, no_escalate=True)
    project.commit()
    project.run(code=3)
    outcomes = [project.attempts(str(number))[0]["outcome"] for number, _ in enumerate(models)]
    assert outcomes == ["AGENT_CONFUSION", "AGENT_CONFUSION", "AGENT_CRASH", "MISCONFIGURED", "PASSED", "AGENT_BLOCKED"]
    questions = {row["id"]: row["question"] for row in project.shown("blocked")["blocked"]}
    assert asks in questions["0"]
    assert asks in questions["1"]
    assert project.noface("retry", "0", "--note", "The ISO format.").returncode == 0
    project.run("--issue", "0", code=3)
    assert (
        "The owner of this project has decided on what stopped the last attempt: go by what stands above."
        in project.prompt("0", 2)
    )


def test_a_report_that_breaks_its_form_gets_one_reminder_and_loses_no_question(project):
    project.play(
        ("1", 1, [{"say": CUT_OFF}]),
        ("2", 0, [{"write": "half.txt", "text": "half"}, {"say": PARTIAL}]),
        ("4", 1, [{"say": UNCLEAR}]),
        ("4", 2, [{"write": "d.txt", "text": "d"}]),
        ("3", 0, [{"write": "c.txt", "text": "c"}, {"say": DONE}]),
        ("*", 0, [{"write": "b.txt", "text": "b"}]),
    )
    project.issue(1)
    project.issue(2, max_attempts=1)
    project.issue(3)
    project.issue(4)
    project.commit()
    project.run(code=3)
    # Nothing was changed: the form is asked for, and nobody pays.
    first, second = project.attempts("1")
    assert (first["outcome"], first["charged"], second["outcome"]) == ("OUTPUT_FORMAT", False, "PASSED")
    details = first["task_failure"]["details"]
    assert (details["expected_type"], details["actual_type"]) == ("object", "truncated")
    assert CUT_OFF in details["original_output"]
    prompt = project.prompt("1", 2)
    assert "truncated JSON" in prompt
    assert CUT_OFF in prompt
    assert "One JSON object between fences" in prompt
    # The text itself says that it is not all: that does not land, and the next one counts.
    assert [(a["outcome"], a["charged"]) for a in project.attempts("2")] == [
        ("OUTPUT_FORMAT", False),
        ("OUTPUT_FORMAT", True),
    ]
    # Evidence outranks a report of work that is there.
    assert [a["outcome"] for a in project.attempts("3")] == ["PASSED"]
    # A failure says why in the terms of the pattern, with its details.
    told = project.attempts("4")[0]["task_failure"]
    assert (told["type"], told["reason"]) == ("TASK_FAILURE", "context_retrieval_failure")
    assert told["details"]["gaps"] == ["no sample of the format"]
    steps = told["details"]["partial_results"]
    assert steps[told["details"]["failed_step"]]["name"] == "judgement"


def part(left):
    return {"say": f'{{"status": "partial", "summary": "{left}"}}'}


def test_a_part_that_passes_every_gate_is_free_and_the_next_attempt_does_what_is_left(project):
    project.config(gate="test ! -e bad")
    project.play(
        ("1", 1, [{"write": "one.txt", "text": "1"}, part("two.txt is left")]),
        ("1", 2, [{"write": "two.txt", "text": "2"}, {"say": WHOLE}]),
        ("2", 0, [{"shell": "echo x >> endless.txt"}, part("there is always more")]),
        ("3", 1, [{"write": "bad", "text": "x"}, part("the rest")]),
        ("3", 2, [{"delete": "bad"}, {"write": "good.txt", "text": "x"}, part("the rest")]),
        ("3", 3, [part("the rest")]),
        ("4", 0, [{"write": "four.txt", "text": "4"}, part("the tests are left")]),
    )
    project.issue(1, max_attempts=1)
    project.issue(2, max_attempts=1)
    project.issue(3, max_attempts=2)
    project.issue(4, max_attempts=1, accept=["test -e four.txt"])
    project.commit()
    project.run(code=3)
    assert project.statuses() == {"1": "merged", "2": "blocked", "3": "blocked", "4": "merged"}
    first, second = ((each["outcome"], each["charged"]) for each in project.attempts("1"))
    assert (first, second) == (("RESOURCE_EXHAUSTED", False), ("PASSED", True))
    assert project.attempts("1")[0]["failure"]["rule"] == "partly-done"
    assert project.git("show", "main:one.txt")
    prompt = project.prompt("1", 2)
    assert "did part of the issue" in prompt
    assert "two.txt is left" in prompt
    assert "ran out of" not in prompt
    assert "What failed" not in prompt
    # It ends: so many parts in a row are free, the next is not.
    assert [each["charged"] for each in project.attempts("2")] == [False] * 4 + [True]
    # A part that fails, or that changes nothing, is no progress.
    told = [(each["outcome"], each["charged"]) for each in project.attempts("3")]
    assert told == [("RUNTIME_ERROR", True), ("RESOURCE_EXHAUSTED", False), ("RESOURCE_EXHAUSTED", True)]
