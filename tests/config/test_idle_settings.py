"""Settings that do nothing: each is told where it stands alone, and not where what it needs is there."""

import pytest

from noface.config.idle_settings import idle_settings
from noface.config.load import parse

GATE = '[[gates]]\nname = "unit"\ncommand = "true"\n'
WORKER = '[models.w]\nagent = "command"\ncommand = "true"\n'
BIG = '[models.big]\nagent = "claude"\nmodel = "opus"\ntier = 2\n'


def told(text, *, boxed=True):
    config = parse(text if "[[gates]]" in text else f"{text}{GATE}", "noface.toml")
    return [finding.text for finding in idle_settings(config, boxed=boxed)]


@pytest.mark.parametrize(
    ("text", "said", "mended"),
    [
        (
            '[review]\nwhen = "risky"\nlabels = ["x"]\n',
            "[review] when, labels: do nothing without a reviewer",
            '[roles]\nreviewer = "claude-opus"\n',
        ),
        (
            "[review]\nrounds = 3\n",
            "[review] rounds: does nothing without a reviewer",
            '[roles]\nreviewer = "claude-opus"\n',
        ),
        (
            f'{BIG}[retry]\ndefault_model = "w"\n',
            "[models.big]: works only where an issue or --model names it",
            '[roles]\nplanner = "big"\n',
        ),
        (
            '[retry]\ndefault_model = "claude-sonnet"\n[retry.strategies]\nMERGE_CONFLICT = "resolver"\nTEST_FAILURE = "context"\n',
            "[retry.strategies] MERGE_CONFLICT: does nothing without a resolver",
            '[roles]\nresolver = "claude-opus"\n',
        ),
        (
            '[retry]\ndefault_model = "w"\n[budget]\noverage = "ask"\n',
            "[budget] overage: does nothing where no agent tells of a window: only claude and codex do",
            '[roles]\nreviewer = "claude-opus"\n',
        ),
        (
            '[budget]\nreserve = {weak = "25%"}\n',
            "[budget] reserve: names weak, which no agent is known to tell of",
            None,
        ),
        (
            '[retry]\n[[retry.ladder]]\nmodel = "claude-opus"\nparallel = 3\n',
            "[[retry.ladder]] parallel: of step 1 asks for more workers at once than [run] workers = 1",
            "[run]\nworkers = 3\n",
        ),
        ('[roles.tools]\nplanner = ["read"]\n', "[roles] tools.planner: does nothing without a planner", None),
        (
            "[recovery]\ndiagnose_after = 3\n",
            "[recovery] diagnose_after: does nothing without a diagnoser",
            '[roles]\ndiagnoser = "claude-opus"\n',
        ),
        (
            '[recovery]\nmodel_accept = "any"\n',
            "[recovery] model_accept: does nothing without a planner",
            '[roles]\nplanner = "claude-opus"\n',
        ),
        (
            "[breakdown]\nenabled = false\nfiles = 3\n",
            "[breakdown] files: does nothing where nothing is broken down",
            None,
        ),
        (
            '[retry]\ndefault_model = "w"\nescalate_after_attempts = 3\nthink = false\n',
            "[retry] escalate_after_attempts: does nothing where no stronger",
            None,
        ),
        (
            '[retry]\ndefault_model = "w"\nblock_after = 9\n',
            "[retry] block_after: does nothing above max_total_attempts",
            None,
        ),
        (
            '[retry]\nescalation_model = "claude-opus"\nthink = true\n[[retry.ladder]]\nmodel = "claude-opus"\n',
            "[retry] escalation_model, think: do nothing beside [[retry.ladder]]",
            None,
        ),
        (
            '[project]\nsetup_inputs = ["a"]\nsetup_timeout = "3m"\n',
            "[project] setup_inputs, setup_timeout: do nothing without a setup",
            'setup = "true"\n',
        ),
        ('[project]\nkeep = ["**/node_modules", ".venv"]\n', "[project] keep: does nothing for **/node_modules", None),
        ("[run]\nmax_cost_usd = 3\n", "[run] max_cost_usd: does nothing for w: a plain command", None),
        (
            "[retry]\nmax_tokens = 3\ndefault_model = 'w'\n",
            "[retry] max_tokens: does nothing for w: a plain command",
            None,
        ),
    ],
)
def test_a_setting_that_does_nothing_is_told(text, said, mended):
    text = f"{text}{WORKER}" if '"w"' in text or "'w'" in text or "w:" in said else text
    (note,) = told(text)
    assert note.startswith(said)
    if mended is not None:
        mended = f"{text}{mended}" if mended.startswith("[") else text.replace("[project]\n", f"[project]\n{mended}")
        assert told(mended) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f'{WORKER}network = "off"\n', "[models.w] network: does nothing without noface's own sandbox"),
        (f'{GATE}network = "off"\n', "[gate unit] network: does nothing without noface's own sandbox"),
        ('[sandbox]\nnetwork = "off"\nhide = ["/srv"]\n', "[sandbox] network, hide: do nothing without noface's own"),
    ],
)
def test_what_only_the_sandbox_can_do_is_told_where_there_is_none(text, said):
    (note,) = told(text, boxed=False)
    assert note.startswith(said)
    assert told(text) == []


def test_recovery_that_is_off_idles_what_it_asks():
    text = '[recovery]\nenabled = false\nmax_strategies = 2\n[roles]\nplanner = "claude-opus"\n[retry]\nreflect = true\ndefault_model = "claude-sonnet"\n'
    assert [note.partition(":")[0] for note in told(text)] == [
        "[roles] planner",
        "[recovery] max_strategies",
        "[retry] reflect",
    ]


def test_a_lint_gate_has_no_canary():
    text = (
        '[[gates]]\nname = "lint"\ncommand = "true"\nkind = "lint"\ncanary = false\ncanary_reason = "it is a linter"\n'
    )
    (note,) = told(f"{text}{GATE}")
    assert note.startswith("[gate lint] canary, canary_reason: do nothing")


@pytest.mark.parametrize(
    "text",
    [
        "",
        f'{BIG}[retry]\ndefault_model = "claude-sonnet"\nescalation_model = "big"\nescalate_after_attempts = 3\nmax_cost_usd = 3\n',
        '[project]\nsetup = "npm ci"\nsetup_inputs = ["package-lock.json"]\nkeep = ["node_modules", "web/node_modules"]\n',
        '[roles]\nreviewer = "claude-opus"\n[review]\nwhen = "risky"\npaths = ["src/**"]\n',
        '[roles]\nreviewer = "claude-opus"\n[review]\nwhen = "never"\nchanged_tests = "ask-model"\n',
        "[breakdown]\nfiles = 3\nmax_children = 4\n",
        "[run]\nmax_cost_usd = 3\nmax_tokens = 1000\n",
        f"{WORKER}[run]\nmax_iterations = 3\n",
    ],
)
def test_what_does_something_is_not_told(text):
    """How often it is wrong on honest configurations: never on these, and on nothing that init writes."""
    assert told(text) == []
