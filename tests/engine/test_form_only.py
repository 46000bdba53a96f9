"""Files that a worker only lays out anew stay out of its change, unless the issue or a gate wants them; nobody pays."""

import pytest

MODULES = {f"src/m{n:02}.py": f"def f{n}( a,b ):\n  return {{'a':a,'b':b}}  # {n}\n" for n in range(40)}
TIDY = {f"src/m{n:02}.py": f'def f{n}(a, b):\n    return {{"a": a, "b": b}}  # {n}\n' for n in range(40)}
SUM = "def total(xs):\n  return sum(xs) + 1\n\n\n" + "".join(f"A{n} = {{'n':{n}}}\n" for n in range(40))
FIX = {"src/cart.py": SUM.replace(" + 1", "").replace("  return", "    return").replace("'", '"').replace(":", ": ")}


def written(files):
    return [{"write": path, "text": text} for path, text in files.items()]


def on_main(project, path):
    return project.git("show", f"main:{path}")


def test_forty_files_laid_out_anew_beside_a_fix_of_one_line_do_not_land_with_it(project):
    for path, text in (MODULES | {"src/cart.py": SUM}).items():
        project.write(path, text)
    project.play(("1", 1, written(TIDY | FIX)), ("1", 2, [{"shell": "true"}]))
    project.issue(1, "The total of a cart is one too high")
    project.commit()
    project.run()
    assert project.statuses() == {"1": "merged"}
    assert project.git("diff", "--name-only", "main~1", "main").split() == ["src/cart.py"]
    assert on_main(project, "src/m07.py") + "\n" == MODULES["src/m07.py"]
    note = "left out of the change: src/m00.py (changed in form only), src/m01.py (changed in form only)"
    shown = " ".join(project.noface("show", "1").stdout.split())
    assert note in shown
    assert '+    return {"a": a, "b": b}  # 39' in project.noface("logs", "1", "1", "--undone").stdout
    assert "m07" not in project.noface("logs", "1", "1", "--diff").stdout
    told, passed = project.attempts("1")
    assert (told["failure"]["rule"], told["charged"], passed["outcome"]) == ("left-in", False, "PASSED")
    assert note.partition(": ")[2] in " ".join(project.prompt("1", 2).split())


@pytest.mark.thorough
def test_what_a_gate_or_an_issue_wants_in_another_form_stays(project):
    for path, text in {**MODULES, "src/cart.py": SUM}.items():
        project.write(path, text)
    project.config(gate="test ! -e strict || ! grep -q 'return {' src/m07.py || grep -q '    return {' src/m07.py")
    project.play(
        ("1", 1, written({"src/m07.py": TIDY["src/m07.py"], "src/m08.py": TIDY["src/m08.py"], "strict": "yes\n"})),
        ("2", 1, written({path: TIDY[path] for path in ("src/m10.py", "src/m11.py")} | {"black.toml": "a = 1\n"})),
        ("3", 1, written({"src/m20.py": TIDY["src/m20.py"] + "\n\nA = 1\n"} | FIX)),
    )
    project.issue(1, "Bounds are checked strictly")
    project.issue(2, "Run black over m10 to m11 and keep its settings")
    project.issue(3, "The total of a cart is one too high")
    project.commit()
    project.run()
    assert set(project.statuses().values()) == {"merged"}
    for path in ("src/m07.py", "src/m08.py", "src/m10.py", "src/m11.py"):
        assert on_main(project, path) + "\n" == TIDY[path]
    shown = " ".join(project.noface("show", "1").stdout.split())
    assert "changed in form only and needed all the same: src/m07.py, src/m08.py; without: gate" in shown
    assert "left out of the change" not in shown
    assert len(project.attempts("1")) == 1
    assert "+" in project.noface("logs", "1", "1", "--diff").stdout
    assert "no undone change" in project.noface("logs", "1", "1", "--undone").stderr
