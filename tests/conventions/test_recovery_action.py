"""What a new way to run a worker costs, as CONTRIBUTING.md says: shown on a copy of the package, to which one is added."""

import shutil
import subprocess
import sys

from support import ROOT

EDITS = {
    "model/actions.py": ('    SWITCH = "SwitchModel"\n', '    SWITCH = "SwitchModel"\n    PAIR = "WorkInPairs"\n'),
    "data/actions.toml": (
        "[SwitchModel]\n",
        '[WorkInPairs]\ninstruction = "Two."\ncell = "pair"\nprompt = "reduce"\n\n[SwitchModel]\n',
    ),
    "recovery/policy.py": ("with the order to reduce the scope.", "with the order to work in pairs."),
    "recovery/policy_state.py": ("(Mode.REDUCE, ", "(Mode.PAIR, "),
}
"""By file: what stands there, and what stands there with the new action."""

USE = """
from noface.model.actions import NAMES, action_instruction, action_text
from noface.model.taxonomy import FailureKind
from noface.prompts.data import situation_for
from noface.recovery.policy import Policy, Rung
from noface.recovery.policy_table import course

name = "WorkInPairs"
steps = course(Policy((Rung("small", 1, 5),), (("small", 1),)), FailureKind.TIMEOUT).steps
print(name in NAMES, name in [step.action.name for step in steps], situation_for(name, "TIMEOUT"))
print(action_instruction(name), action_text(name, "cell"))
"""


def test_a_recovery_action_is_a_change_of_at_most_four_files(tmp_path):
    copy = shutil.copytree(ROOT / "noface", tmp_path / "noface", ignore=shutil.ignore_patterns("__pycache__"))
    for name, (old, new) in EDITS.items():
        text = (copy / name).read_text("utf-8")
        assert text.count(old) == 1, name
        (copy / name).write_text(text.replace(old, new), "utf-8")
    done = subprocess.run([sys.executable, "-c", USE], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines() == ["True True reduce", "Two. pair"], done.stderr
    assert len(EDITS) <= 4
