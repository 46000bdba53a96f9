import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from noface.config.load import parse
from noface.errors import ConfigError

SEED = """\
[retry]
default_model = "claude-sonnet"
escalation_model = "claude-opus"
escalate_after_attempts = 2
max_total_attempts = 5

[[failure_hints]]
label = "migration"
hint = "Migration issues often need schema changes first. Check schema files."

[[failure_hints]]
language = "elixir"
error_pattern = "** (MatchError)"
hint = "Check pattern matching - ensure all cases are handled or use case/with statements."
"""


def config(text):
    return parse(text, "noface.toml")


def test_the_seed_sections_work_as_written():
    seed = config(SEED)
    assert seed.retry.default_model == "claude-sonnet"
    assert seed.retry.escalation_model == "claude-opus"
    assert (seed.retry.escalate_after_attempts, seed.retry.max_total_attempts) == (2, 5)
    migration, elixir = seed.failure_hints
    assert (migration.label, migration.language) == ("migration", "")
    assert migration.hint.startswith("Migration issues")
    assert (elixir.language, elixir.error_pattern) == ("elixir", "** (MatchError)")


def test_a_gate_has_its_defaults_and_seconds():
    text = (
        '[[gates]]\nname = "a"\ncommand = "x"\n[[gates]]\nname = "b"\ncommand = "y"\ntimeout = "1h30m"\nhard = false\n'
    )
    first, second = config(text).gates
    assert (first.kind, first.hard, first.timeout, first.retries, first.report) == ("test", True, 600.0, None, "")
    assert (second.hard, second.timeout) == (False, 5400.0)


def test_paths_are_normalised_and_a_folder_glob_means_all_below():
    read = config('[tracker]\npath = "./work/issues/"\n[protect]\nextra = ["ci/"]\n[project]\nkeep = ["./a//b/"]\n')
    assert read.tracker.path == "work/issues"
    assert read.protect.extra == ("ci/**",)
    assert read.project.keep == ("a/b",)


def test_a_partial_entry_overrides_only_its_own_keys_of_a_preset():
    opus = config('[models.claude-opus]\ntimeout = "2h"\n').models["claude-opus"]
    assert (opus.timeout, opus.model, opus.tier, opus.idle_timeout) == (7200.0, "opus", 3, 600.0)


def test_a_retry_section_may_mix_own_models_and_presets():
    text = '[retry]\ndefault_model = "mine"\nescalation_model = "claude-opus"\n[models.mine]\nagent = "scripted"\ntier = 3\n'
    assert config(text).retry.escalation_model == "claude-opus"


def test_protected_paths_cover_configuration_and_ci_but_no_manifests():
    patterns = config("").protect.patterns
    for path in (
        "noface.toml",
        ".noface.toml",
        ".github/workflows/**",
        ".gitlab-ci.yml",
        "Jenkinsfile",
        "**/conftest.py",
    ):
        assert path in patterns
    for manifest in ("package.json", "pyproject.toml", "Cargo.toml", "go.mod"):
        assert not any(manifest in pattern for pattern in patterns)


def test_without_gates_loading_works_and_running_is_refused_with_an_example():
    with pytest.raises(ConfigError) as caught:
        config("").require_gates()
    example = caught.value.hint[caught.value.hint.index("[[gates]]") :]
    config(example).require_gates()


def test_only_soft_gates_are_refused_by_name():
    with pytest.raises(ConfigError, match=r"no gate is hard \(a\)"):
        config('[[gates]]\nname = "a"\ncommand = "x"\nhard = false\n').require_gates()


def test_effective_is_plain_json_with_everything_filled_in():
    effective = config('[[gates]]\nname = "a"\ncommand = "x"\ntimeout = "2m"\n').effective()
    assert json.loads(json.dumps(effective)) == effective
    assert effective["gates"][0]["timeout"] == 120.0
    assert effective["models"]["claude-sonnet"]["model"] == "sonnet"
    assert effective["limits"]["max_changed_files"] == 200


def test_the_digest_ignores_spelling_and_sees_content():
    plain = config('[run]\nworkers = 2\n[landing]\nstyle = "merge"\n[project]\nsetup_timeout = 600\n')
    other = config('# hi\nlanding.style = "merge"\nrun = { workers = 0x2 }\nproject.setup_timeout = "10m"\n')
    assert plain.digest == other.digest == config("[run]\nworkers = 2\n").digest
    assert plain.digest != config("[run]\nworkers = 3\n").digest
    assert len(plain.digest) == 64


JUNK = st.recursive(
    st.one_of(
        st.integers(), st.booleans(), st.floats(), st.text(max_size=5), st.sampled_from(["claude-opus", "command"])
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["name", "agent", "tier", "hint", "env", "a", "default_model"]), inner, max_size=3
        ),
    ),
    max_leaves=12,
)
SECTION_NAMES = ["project", "run", "gates", "models", "retry", "failure_hints", "tracker", "protect", "x"]


@given(st.dictionaries(st.sampled_from(SECTION_NAMES), JUNK, max_size=4))
def test_any_toml_loads_or_is_refused_with_problems_on_its_lines(data):
    import tomli_w

    try:
        text = tomli_w.dumps(data)
    except (TypeError, ValueError, UnicodeEncodeError):
        return
    try:
        config(text)
    except ConfigError as error:
        for problem in error.problems:
            assert problem.line is None or 1 <= problem.line <= text.count("\n") + 1
