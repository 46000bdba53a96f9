"""Users' own templates: they take the place of noface's, and are found wanting before the run, not during it."""

import pytest

from noface.engine.prompt_context import built_in, check_templates, load_templates
from noface.errors import ConfigError
from noface.model.gate import GateSpec
from noface.model.issue import Issue
from noface.prompts.check import variables
from noface.prompts.data import PromptData, Situation
from noface.prompts.render import BUILT_IN, render
from noface.prompts.values import values_of

DATA = PromptData(Issue("7", "Mend the sum", body="It adds wrongly."), (GateSpec("unit", "pytest -q"),))


def folder(tmp_path, **texts):
    for name, text in texts.items():
        (tmp_path / f"{name}.md.j2").write_text(text)
    return tmp_path


def refused(path):
    with pytest.raises(ConfigError) as caught:
        load_templates(path)
    return caught.value


def test_noface_s_own_templates_are_sound_and_there_is_one_for_every_situation():
    templates = load_templates(None)
    check_templates(templates)
    assert {situation.template for situation in Situation} <= set(templates)
    shared = {"_base.md.j2", "_question.md.j2", "_parts.md.j2"}
    assert set(built_in()) == shared | {situation.template for situation in Situation}


def test_a_user_s_template_takes_the_place_of_noface_s(tmp_path):
    templates = load_templates(folder(tmp_path, first="# {{ issue.title }}\n\nBe brief.\n"))
    assert render(Situation.FIRST, templates, DATA, 50_000).text == "# Mend the sum\n\nBe brief.\n"
    assert "Begin by reading" in render(Situation.RETRY, templates, DATA, 50_000).text


def test_a_user_s_template_can_extend_the_one_it_replaces(tmp_path):
    own = '{% extends "noface/retry.md.j2" %}\n{% block closing %}\n## House rules\n\nNo emoji.\n{% endblock %}\n'
    text = render(Situation.RETRY, load_templates(folder(tmp_path, retry=own)), DATA, 50_000).text
    assert "## House rules\n\nNo emoji.\n" in text
    assert "Begin by reading" in text


def test_a_user_s_base_changes_every_worker_s_prompt(tmp_path):
    own = '{% extends "noface/_base.md.j2" %}\n{% block closing %}\n## House rules\n\nNo emoji.\n{% endblock %}\n'
    templates = load_templates(folder(tmp_path, _base=own))
    for situation in (Situation.FIRST, Situation.THINK, Situation.REVIEW):
        assert "## House rules" in render(situation, templates, DATA, 50_000).text


def test_an_unknown_file_is_named_with_the_one_that_was_meant(tmp_path):
    error = refused(folder(tmp_path, retyr="x", zzz="y"))
    assert '"retyr.md.j2"; did you mean "retry.md.j2"?' in error.message
    assert '"zzz.md.j2"' in error.message
    for name in built_in():
        assert name in error.hint


@pytest.mark.parametrize("name", ["retry.j2", "retry.md", "retry.md.j2.bak"])
def test_a_wrong_ending_is_found(tmp_path, name):
    (tmp_path / name).write_text("x")
    assert f'"{name}"; did you mean "retry.md.j2"?' in refused(tmp_path).message


def test_what_is_no_template_is_left_alone(tmp_path):
    for name in ("README.md", ".retyr.md.j2.swp", "notes.txt"):
        (tmp_path / name).write_text("{{ nonsense")
    assert load_templates(tmp_path) == load_templates(None)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("x\n{{ isue.title }}", 2, 'there is no variable "isue"; did you mean "issue"?'),
        ("{% if think %}\n\n{{ qqqq }}{% endif %}", 3, 'there is no variable "qqqq"'),
        ("\n{{ issue.titel }}", 2, "UndefinedError: 'noface.model.issue.Issue object' has no attribute 'titel'"),
        ("\n\n{% if failure %}{{ failure.numbre }}{% endif %}", 3, "UndefinedError: "),
        ("x\n{% if %}", 2, "Expected an expression"),
        ("x\n\n{% if think %}", 3, "Unexpected end of template"),
        ("\n{{ issue.title | lien }}", 2, "No filter named 'lien'"),
        ('\n{% include "_bsae.md.j2" %}', 2, 'there is no template "_bsae.md.j2"; did you mean "_base.md.j2"?'),
        ("\n{{ gates + 1 }}", 2, "TypeError"),
        ("\n{{ ''.__class__ }}", 2, "SecurityError"),
        ("\n{{ questions }}", 2, 'there is no variable "questions"'),
    ],
)
def test_a_fault_is_told_with_its_file_line_and_the_variables_there_are(tmp_path, text, line, said):
    error = refused(folder(tmp_path, retry=text))
    assert f"{tmp_path}/retry.md.j2:{line}: {said}" in error.message
    for name, meaning in variables("retry.md.j2").items():
        assert f"\n  {name}: {meaning}" in error.hint


def test_all_faults_are_told_at_once(tmp_path):
    error = refused(folder(tmp_path, retry="{{ one }}\n{{ two }}", breakdown="{{ qqqq }}"))
    assert "3 faults" in error.message
    assert [row.rsplit("/", 1)[1] for row in error.message.split("\n")[1:]] == [
        'breakdown.md.j2:1: there is no variable "qqqq"',
        'retry.md.j2:1: there is no variable "one"',
        'retry.md.j2:2: there is no variable "two"',
    ]
    assert "\n  answer_example:" in error.hint


def test_a_template_that_extends_itself_is_told_how_to_extend_noface_s(tmp_path):
    error = refused(folder(tmp_path, retry='{% extends "retry.md.j2" %}'))
    assert "extends or includes itself without end" in error.message
    assert '"noface/retry.md.j2" is noface\'s own' in error.message


def test_a_fault_in_a_shared_template_is_told_once_for_each_place(tmp_path):
    error = refused(folder(tmp_path, _base="hello\n{{ issue.titel }}"))
    assert error.message.count("_base.md.j2:2") == 1


def test_files_that_are_no_templates_are_refused_with_the_reason(tmp_path):
    (tmp_path / "retry.md.j2").write_bytes(b"abc\xff")
    assert "retry.md.j2: byte 4 is not UTF-8" in refused(tmp_path).message
    (tmp_path / "retry.md.j2").unlink()
    (tmp_path / "retry.md.j2").mkdir()
    assert "retry.md.j2: Is a directory" in refused(tmp_path).message


def test_a_folder_that_is_not_there_is_said_not_to_be(tmp_path):
    error = refused(tmp_path / "prompts")
    assert "[prompts] dir" in error.message
    assert "No such file or directory" in error.message


def test_windows_line_ends_do_not_matter(tmp_path):
    (tmp_path / "first.md.j2").write_bytes(b"# {{ issue.title }}\r\n{% if think %}\r\nx\r\n{% endif %}\r\nEnd.\r\n")
    assert render(Situation.FIRST, load_templates(tmp_path), DATA, 50_000).text == "# Mend the sum\nEnd.\n"


def test_every_variable_is_described_and_every_description_is_of_a_variable():
    from noface.prompts.check import samples

    assert set(values_of(Situation.RETRY, samples()[0], {})) == set(variables("retry.md.j2"))
    assert set(values_of(Situation.DIAGNOSIS, samples()[0], {})) == set(variables("breakdown.md.j2"))
    assert variables("retry.md.j2") is variables(f"{BUILT_IN}_base.md.j2") is not variables("breakdown.md.j2")
