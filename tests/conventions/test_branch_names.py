"""The branch of an issue has one name, and one function makes it: what is printed works when it is copied."""

import re
from pathlib import Path

import noface

ROOT = Path(noface.__file__).parent
MADE_BY_HAND = re.compile(r"""["'`/ (]noface/(?:\{(?!__version__)|%s|["'] *\+)""")
ONE_PLACE = "git/refs.py"


def test_no_other_place_makes_the_branch_of_an_issue_from_its_id():
    made = {
        f"{path.relative_to(ROOT)}:{number}"
        for path in ROOT.rglob("*")
        if path.suffix in (".py", ".toml", ".j2") and not path.is_relative_to(ROOT / "demo")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if MADE_BY_HAND.search(line)
    }
    assert {place.partition(":")[0] for place in made} == {ONE_PLACE}
