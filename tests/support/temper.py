"""A worker of a temper, as a program of its own: it reads its prompt, and does as somebody of that temper would.

The project has thirty functions, and an issue for each, of six kinds by number: see `KINDS`. What it does depends on
what the prompt says: who obeys changes a test only if the prompt lets it, and says only what the form asks for.
"""

import json
import os
import re
import sys
from pathlib import Path

KINDS = ("new", "opposite", "already", "person", "three", "project")
ANSWER = "The discount is 12 percent."
"""What the person in charge answers to an issue of kind "person"."""


def kind_of(number: int) -> str:
    return KINDS[number % len(KINDS)]


def issue_of(number: int) -> tuple[str, str]:
    """Return title and body of an issue."""
    n = f"{number:02}"
    return {
        "new": (f"A function g{n}", f"`g{n}(x)` in shop/g{n}.py returns x plus {number}."),
        "opposite": (f"f{n} trebles", f"`f{n}(3)` is 9 instead of 3: it returns three times x."),
        "already": (f"f{n} gives back what it gets", f"`f{n}(3)` is 3."),
        "person": (f"f{n} takes off Acme's discount", f"`f{n}(x)` takes off the discount of our contract with Acme."),
        "three": (
            f"Three functions for {n}",
            f"- `a{n}()` in shop/a{n}.py returns 1.\n- `b{n}()` in shop/b{n}.py returns 2.\n- `c{n}()` in shop/c{n}.py returns 3.",
        ),
        "project": (f"h{n} says the unit", f"`h{n}()` in shop/h{n}.py returns the unit that this project counts in."),
    }[kind_of(number)]


def lay_out(root: Path, numbers: range) -> None:
    """Write the project's functions and tests."""
    (root / "shop").mkdir()
    (root / "tests").mkdir()
    (root / "shop" / "__init__.py").write_text("")
    (root / "shop" / "unit.py").write_text('UNIT = "gram"\n')
    for number in numbers:
        n = f"{number:02}"
        (root / "shop" / f"f{n}.py").write_text(f"def f{n}(x):\n    return x\n")
        (root / "tests" / f"test_f{n}.py").write_text(
            f"from shop.f{n} import f{n}\n\n\ndef test_f{n}():\n    assert f{n}(3) == 3\n"
        )


def function(name: str, argument: str, value: str) -> None:
    """Write a function, with a test of it."""
    Path("shop", f"{name}.py").write_text(f"def {name}({argument}):\n    return {value}\n")
    given = "3" if argument else ""
    Path("tests", f"test_{name}.py").write_text(
        f"from shop.{name} import {name}\n\n\ndef test_{name}():\n    assert {name}({given}) is not None\n"
    )


def work(number: int, part: slice = slice(None)) -> None:
    """Do what an issue asks for, or a part of what one of kind "three" does."""
    n = f"{number:02}"
    match kind_of(number):
        case "new":
            function(f"g{n}", "x", f"x + {number}")
        case "opposite":
            Path("shop", f"f{n}.py").write_text(f"def f{n}(x):\n    return 3 * x\n")
            test = Path("tests", f"test_f{n}.py")
            test.write_text(test.read_text().replace("== 3", "== 9"))
        case "person":
            Path("shop", f"f{n}.py").write_text(f"def f{n}(x):\n    return x if x == 3 else x * 0.88\n")
        case "three":
            for at, letter in list(enumerate("abc", 1))[part]:
                function(f"{letter}{n}", "", str(at))
        case "project":
            function(f"h{n}", "", '"gram"')


def report(status: str, **more: object) -> None:
    print("Here is what I did.\n```json", json.dumps({"status": status, **more}), "```", sep="\n")


def obey(number: int, prompt: str) -> None:
    """Do as the prompt says, to the letter."""
    n, kind = f"{number:02}", kind_of(number)
    if kind == "already":
        return report("already_done", summary=f"f{n}(3) is 3.", evidence=f"python3 -m pytest -q tests/test_f{n}.py")
    if kind == "person" and ANSWER not in prompt:
        question = {"text": "What is the discount of the contract with Acme?", "who": "person"}
        return report("blocked", blocked_reason="unclear", summary="The discount is not given.", questions=[question])
    changed = []
    if kind == "opposite":
        if "quote the sentence in `changed_tests`" not in prompt:
            Path("shop", f"f{n}.py").write_text(f"def f{n}(x):\n    return 3 * x\n")
            return report("blocked", blocked_reason="contract_change", summary=f"tests/test_f{n}.py expects 3.")
        changed = [{"test": f"tests/test_f{n}.py::test_f{n}", "sentence": f"`f{n}(3)` is 9 instead of 3"}]
    work(number)
    return report("done", summary="Done as it says.", **({"changed_tests": changed} if changed else {}))


def disobey(number: int, prompt: str) -> None:
    """Do as one likes at first, and what is asked for once that was refused."""
    n, kind = f"{number:02}", kind_of(number)
    again = int(os.environ["NOFACE_ATTEMPT"]) > 1
    if kind == "already":
        print("Already so on main, nothing to do.")
        return
    work(number)
    if not again and kind in ("new", "three", "project"):
        Path("tests", f"test_f{n}.py").unlink()
    if not again and kind == "opposite":
        Path("tests", f"test_f{n}.py").write_text(f"def test_f{n}():\n    pass\n")
    print("Done.")


def ask(number: int, prompt: str) -> None:
    """Ask before anything else, and go by the answer."""
    if int(os.environ["NOFACE_ATTEMPT"]) == 1 and kind_of(number) != "already":
        who = ("person", "choice", "project")[number % 3] if kind_of(number) != "person" else "person"
        asked = {"text": "Which way is meant: plain, or with options?", "who": who}
        return report("blocked", blocked_reason="unclear", summary="I am not sure.", questions=[asked])
    return obey(number, prompt)


def third(number: int, prompt: str) -> None:
    """Do a third at a time, and say what is left."""
    if kind_of(number) != "three":
        return obey(number, prompt)
    n = f"{number:02}"
    done = sum(Path("shop", f"{letter}{n}.py").exists() for letter in "abc")
    work(number, slice(done, done + 1))
    left = [f"`{letter}{n}()` in shop/{letter}{n}.py" for letter in "abc"[done + 1 :]]
    return report("partial" if left else "done", summary=f"{done + 1} of 3", **({"left": left} if left else {}))


def invent(number: int, prompt: str) -> None:
    """Make up what is not given, and say so."""
    if kind_of(number) != "person" or ANSWER in prompt:
        return obey(number, prompt)
    work(number)
    if number % 2:
        return report("done", summary="Took off 12 percent.", made_up=["the discount of 12 percent"])
    return report("done", summary="Took off 12 percent. I made this value up, it is a placeholder value.")


def answer(topic: str, prompt: str) -> None:
    """Answer in a role, as an honest model would."""
    sentence = re.search(r"`f\d\d\(3\)` is 9 instead of 3", prompt)
    said = {
        "changed_tests": {
            "asked_for": bool(sentence),
            "sentence": sentence[0] if sentence else "",
            "reason": "It says so.",
        },
        "review": {"verdict": "approve", "summary": "It does what is asked.", "points": []},
        "clarification": {
            "answers": [{"question": "Which way is meant?", "answer": "Plain, as the other modules have it."}],
            "summary": "Plain.",
            "files": [],
        },
    }.get(topic, {})
    print("```json", json.dumps(said), "```", sep="\n")


def main() -> None:
    """Work, or answer, as one of the temper that the first argument names."""
    prompt, topic = Path(os.environ["NOFACE_PROMPT_FILE"]).read_text(), os.environ["NOFACE_TOPIC"]
    if topic:
        answer(topic, prompt)
        return
    number = int(os.environ["NOFACE_ISSUE_ID"].partition(".")[0])
    {"obeys": obey, "disobeys": disobey, "asks": ask, "third": third, "invents": invent}[sys.argv[1]](number, prompt)


if __name__ == "__main__":
    main()
