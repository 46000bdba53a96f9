"""Issues whose changes conflict with each other: all of them land, and nobody pays for main's moving."""

import re
from collections import Counter

ISSUES = 4


def part(prompt, heading):
    """Return the part of a prompt below a heading."""
    return prompt.partition(f"## {heading}")[2].partition("\n## ")[0]


def test_issues_that_append_to_one_file_all_land_since_who_loses_works_alone_next(project):
    project.write("log.sh", "first line\n")
    project.config(workers=3)
    project.play(("*", 0, [{"shell": 'echo "line of $NOFACE_ISSUE_ID" >> log.sh'}]))
    for number in range(1, ISSUES + 1):
        project.issue(number)
    project.commit()
    log = project.run()
    lines = (project.path / "log.sh").read_text().splitlines()
    assert Counter(lines) == Counter(["first line", *(f"line of {number}" for number in range(1, ISSUES + 1))])
    tried = [project.attempts(str(number)) for number in range(1, ISSUES + 1)]
    lost = [attempts[0] for attempts in tried if len(attempts) > 1]
    assert lost  # three began on the same main
    assert {attempt["outcome"] for attempt in lost} == {"MERGE_CONFLICT"}
    assert all(
        "main moved into log.sh meanwhile: it works alone the next time" in attempt["action"]["reason"]
        for attempt in lost
    )
    assert all(re.search(r"in log\.sh \(\d: Issue \d\b", attempt["failure"]["message"]) for attempt in lost)
    told = [
        part(project.prompt(str(n + 1), 2), "What main has") for n, attempts in enumerate(tried) if len(attempts) > 1
    ]
    assert all(re.search(r"^(\d): Issue \1$[^`]*^\+line of \1$", text, re.MULTILINE) for text in told), told
    begun = [line for line in log.splitlines() if "attempt 2 with small, alone (log.sh)" in line]
    assert len(begun) == len(lost)
    assert [len(attempts) for attempts in tried if len(attempts) > 2] == []
    assert [attempts[-1]["number"] for attempts in tried if sum(one["charged"] for one in attempts) != 1] == []
