"""A worker that writes its questions into the project, or into comments, is heard; nothing of it lands."""

QUESTIONS = "# Questions\n\nShould the total include shipping?\nWhich currency is meant?\n"
CART = "def total(xs):\n    return sum(xs) + 1\n"
DONE = {"say": '{"status": "done", "summary": "I wrote down what is open."}'}


def test_notes_in_place_of_work_are_answered_by_a_person_or_by_the_next_worker(project):
    project.write("src/cart.py", CART)
    there = {"shell": f"ls > {project.folder}/there.txt"}
    project.play(
        ("1", 0, [{"write": "QUESTIONS.md", "text": QUESTIONS}, DONE]),
        ("2", 1, [{"write": "src/cart.py", "text": f"# TODO: which currency is meant?\n{CART}"}]),
        ("2", 2, [there, {"write": "src/cart.py", "text": CART.replace(" + 1", "")}]),
        ("3", 1, [{"write": "OPEN.md", "text": QUESTIONS}]),
        ("4", 1, [{"write": "NOTES.md", "text": QUESTIONS}]),
        ("5", 1, [{"write": "PLAN.md", "text": QUESTIONS}]),
        ("5", 2, [there, {"write": "fast", "text": "yes\n"}]),
    )
    project.issue(1, "The total of a cart is one too high")
    project.issue(2, "The total of a cart must be in the cart's currency")
    project.issue(3, "Write down the open questions about totals")
    project.issue(4, "Say what is open", accept=["test -e NOTES.md"])
    project.issue(5, "Add the fast way", accept=["test -e fast"])
    project.commit()
    project.run(code=3)
    assert project.statuses() == {"1": "blocked", "2": "merged", "3": "merged", "4": "merged", "5": "merged"}
    landed = project.git("ls-tree", "-r", "--name-only", "main").split()
    assert {"OPEN.md", "NOTES.md"} <= set(landed)
    assert not {"QUESTIONS.md", "PLAN.md"} & set(landed)
    assert "PLAN.md" not in (project.folder / "there.txt").read_text()
    assert "TODO" not in project.git("show", "main:src/cart.py")
    page = " ".join(project.noface("blocked", "1").stdout.split())
    assert 'The worker of attempt 2 (small) asks: "Should the total include shipping?" (and 2 more)' in page
    assert "• Which currency is meant?" in page
    assert "which currency is meant?" in project.prompt("2", 2)
    assert project.attempts("5")[0]["outcome"] == "AGENT_CONFUSION"
