"""Keys that do nothing: each is told where it stands alone, and not where what it needs is there."""

import pytest
from support.cases import cases

from noface.config import idle
from noface.config.idle import idle_settings, open_doors
from noface.config.load import parse
from noface.config.sections import Config

GATE = '[[gates]]\nname = "unit"\ncommand = "true"\n'
WORKER = '[models.w]\nagent = "command"\ncommand = "true"\n'
ROLE = '[roles]\n{} = "claude-opus"\n'
PULLS, ON_GITHUB = "[landing]\nhow = 'pull-request'\n", "[tracker]\nkind = 'github'\n"


def told(text, *, boxed=True):
    config = parse(text if "[[gates]]" in text else f"{text}{GATE}", "noface.toml")
    return [finding.text for finding in idle_settings(config, boxed=boxed)]


@pytest.mark.parametrize(
    ("text", "said", "mended"),
    [
        ('[review]\nwhen = "risky"\nlabels = ["x"]\n', "when, labels: do nothing without a", ROLE.format("reviewer")),
        ("[recovery]\nallow_skip = true\n", "allow_skip: does nothing without a", ROLE.format("diagnoser")),
        ('[retry]\nescalation_model = "claude-opus"\n[[retry.ladder]]\nmodel = "claude-opus"\n', "beside", None),
        ('[project]\nsetup_inputs = ["a"]\nsetup_timeout = "3m"\n', "setup_inputs, setup_timeout: do nothing", None),
        ('[project]\nkeep = ["**/node_modules", ".venv"]\n', "[project] keep: does nothing for globs", None),
        ("[landing]\nrounds = 1\n", "[landing] rounds: does nothing without pull requests", None),
        ("[tracker]\nlabel = 'x'\n", "[tracker] label: does nothing without", ON_GITHUB.replace("[tracker]\n", "")),
        ("[github]\nrepository = 'acme/shop'\n", "[github] repository: does nothing without GitHub", PULLS),
        (f'{WORKER}[retry]\nmax_tokens = 3\ndefault_model = "w"\n', "max_tokens: does nothing for w: a plain", None),
        ("[recovery]\nenabled = false\nmax_strategies = 2\n", "[recovery] max_strategies: does nothing", None),
    ],
)
def test_a_setting_that_does_nothing_is_told(text, said, mended):
    (note,) = told(text)
    assert said in note
    assert mended is None or told(f"{text}{mended}") == []


@cases(
    ("text", "said"),
    [('[sandbox]\nnetwork = "off"\nhide = ["/srv"]\n', "[sandbox] network, hide: do nothing without noface's own")],
)
def test_what_only_the_sandbox_can_do_is_told_where_there_is_none(text, said):
    (note,) = told(text, boxed=False)
    assert note.startswith(said)
    assert told(text) == []


@cases(
    "text",
    [
        "",
        '[project]\nsetup = "npm ci"\nsetup_inputs = ["package-lock.json"]\nkeep = ["node_modules", "web/node_modules"]\n',
        '[roles]\nreviewer = "claude-opus"\n[review]\nwhen = "never"\nchanged_tests = "ask-model"\n',
        "[run]\nmax_cost_usd = 3\nmax_tokens = 1000\n",
        f"{WORKER}[run]\nmax_hours = 3\n",
        f"{PULLS}auto_merge = true\n",
        f"{ON_GITHUB}label = 'x'\nauthors = ['ann']\n[github]\npoll = '2m'\n",
    ],
)
def test_what_does_something_is_not_told(text):
    assert told(text) == []


def test_the_table_names_keys_that_there_are():
    sections = {name: field.annotation.model_fields for name, field in Config.model_fields.items() if name in ROWS}
    assert [(name, key) for name, keys in ROWS.items() for key in keys if key not in sections[name]] == []


ROWS = {row[0]: [key for other in idle._NEEDS if other[0] == row[0] for key in other[1].split()] for row in idle._NEEDS}


def test_an_open_door_is_noted():
    (note,) = open_doors(parse(f"{ON_GITHUB}authors = ['*']\n", "noface.toml"))
    assert "anyone" in note.what
