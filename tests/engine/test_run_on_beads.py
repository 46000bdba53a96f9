"""A real run on the issues of a beads folder, which stays as it is."""

import json


def bead(own_id, *blocked_by, **values):
    links = [{"issue_id": own_id, "depends_on_id": name, "type": "blocks"} for name in blocked_by]
    line = {"id": own_id, "title": f"Do {own_id}", "description": "Do it.", "status": "open", "priority": 2}
    return json.dumps(line | values | {"dependencies": links}) + "\n"


def test_open_issues_of_beads_land_in_their_order_and_the_file_is_not_touched(project):
    text = (
        bead("bd-b", "bd-a", "bd-old")
        + bead("bd-a")
        + bead("bd-old", status="closed")
        + bead("bd-hers", status="in_progress")
    )
    project.write(".beads/issues.jsonl", text)
    project.config('[tracker]\nkind = "beads"\n')
    project.play(
        ("bd-a", 0, [{"write": "a.txt", "text": "a"}, {"write": ".beads/issues.jsonl", "text": "mine"}]),
        ("bd-b", 0, [{"write": "b.txt", "text": "b"}]),
    )
    project.commit()
    project.run()
    assert project.statuses() == {"bd-a": "merged", "bd-b": "merged"}
    landed = project.git("log", "--reverse", "--format=%(trailers:key=Noface-Issue,valueonly)", "main").split()
    assert list(dict.fromkeys(landed)) == ["bd-a", "bd-b"]
    assert project.git("show", "main:.beads/issues.jsonl") == text.strip()
