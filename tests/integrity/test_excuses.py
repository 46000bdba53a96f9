"""What may excuse code from a check, and how it is muted.

How often it is wrong: of 238 commits of five public projects that add comments to the product (humanize, structlog,
packaging, marshmallow, jinja), ruff with the project's own settings turns red once they are muted in 11, each time for
what a comment in new words had excused it from (`# noqa: PLR0912`), and in none for another reason.
"""

from support.cases import cases

from noface.integrity.excuses import excuses, muted, near, rules_in


def muted_text(path, text, added=range(1, 100)):
    return muted(text, excuses(path, text, set(added)))


@cases(
    ("path", "text", "quiet"),
    [
        ("a.py", "x = 1  # NOQA\n", "x = 1  # AAAA\n"),
        ("a.py", "x = '# noqa'  # type: ignore[arg-type]\n", "x = '# noqa'  # aaaaa aaaaaaaaaa-aaaaa\n"),
        ("a.py", "# mypy: disable-error-code=operator\n", "# aaaaa aaaaaaa-aaaaa-aaaaaaaaaaaaa\n"),
        ("a.py", "# pylint: disable-next=W0611\n", "# aaaaaaa aaaaaaa-aaaaaA0000\n"),
        ("a.py", "# -*- coding: latin-1 -*-\n", "# -*- coding: latin-1 -*-\n"),
        ("a.py", "#!/usr/bin/python\n", "#!/usr/bin/python\n"),
        ("a.py", "@typing.no_type_check\ndef f(): pass\n", "#aaaaaaaaaaaaaaaaaaaa\ndef f(): pass\n"),
        ("a.py", "if not TYPE_CHECKING:\n    pass\n", "if TYPE_CHECKING:\n    pass\n"),
        ("a.js", "f() // eslint-disable-line no-eval -- why\n", "f() // aaaaaa-aaaaaaa-aaaa aa-aaaa -- aaa\n"),
        ("a.js", "/* eslint rule: [0] */\n", "/* aaaaaa aaaaa a0a */\n"),
        ("a.ts", "/* one\n   @ts-nocheck */\n", "/* aaa\n   aaa-aaaaaaa */\n"),
        (
            "a.js",
            "/**\n * @param {string} a the name\n * text\n */\n",
            "/**\n * @param {string} a the name\n * aaaa\n */\n",
        ),
        ("a.ts", '/// <reference types="node" />\n', '/// <reference types="node" />\n'),
        ("a.rs", "#[expect(unused)]\nfn f() {}\n", "/*aaaaaaaaaaaaa*/\nfn f() {}\n"),
        ("a.rs", "#![cfg_attr(all(), allow(warnings))]\n", "/*aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa*/\n"),
        ("a.rs", "#[derive(Debug)]\nstruct A;\n", "#[derive(Debug)]\nstruct A;\n"),
        (
            "a.c",
            '#pragma GCC diagnostic ignored "-Wall"\nint a;\n',
            "/*aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa*/\nint a;\n",
        ),
        ("a.c", "#include <a.h>\n", "#include <a.h>\n"),
        ("a.go", "//nolint:all\nvar a int\n", "//aaaaaaaaaa\nvar a int\n"),
        ("a.go", "//go:embed x\nvar a string\n", "//go:embed x\nvar a string\n"),
        ("A.java", '@SuppressWarnings("all")\nclass A {}\n', "/*aaaaaaaaaaaaaaaaaaaa*/\nclass A {}\n"),
        ("a.sh", "# shellcheck disable=SC2086\necho $a\n", "# aaaaaaaaaa aaaaaaaaAA0000\necho $a\n"),
        ("a.css", "/* stylelint-disable */\n", "/* aaaaaaaaa-aaaaaaa */\n"),
        ("a.yml", "a: 1 # yamllint disable-line\n", "a: 1 # aaaaaaaa aaaaaaa-aaaa\n"),
        ("a.py", "# see https://example.org/a  # noqa\n", "# aaa https://example.org/a  # aaaa\n"),
        ("a.py", "# total(1)[0] = {2}\n", "# aaaaaa0aa0a a a0a\n"),  # no code that somebody has commented out
        ("a.py", "# noqa coding: utf-8 E501\n", "# aaaa coding: utf-8 A000\n"),
        ("a.py", "x = 1  #! # noqa\n", "x = 1  #! # aaaa\n"),
        ("a.js", "f() // eslint-disable-line -- __PURE__\n", "f() // aaaaaa-aaaaaaa-aaaa -- aaAAAAaa\n"),
        ("a.js", "/* @__PURE__ */ f()\n", "/* @__PURE__ */ f()\n"),
        ("a.js", "import(/* webpackChunkName: 'a' */ './a')\n", "import(/* webpackChunkName: 'a' */ './a')\n"),
        ("a.cc", "//export NOLINT\nint a;\n", "//aaaaaa AAAAAA\nint a;\n"),
        ("a.unknown", "# noqa\n", "# noqa\n"),
        ("a.py", "é = 1  # größe\n", "é = 1  # aaaaa\n"),
        ("a.py", "x = 1  # noqa" + "a" * 6_000, "x = 1  # noqa" + "a" * 6_000),  # nobody has written it by hand
    ],
)
def test_what_excuses_is_muted_in_any_words_and_in_place(path, text, quiet):
    assert muted_text(path, text) == quiet


def test_only_added_lines_are_muted():
    text = "a = 1  # noqa\nb = 2  # noqa\n"
    assert muted_text("a.py", text, {2}) == "a = 1  # noqa\nb = 2  # aaaa\n"
    assert excuses("a.py", text, set()) == ()


@cases(
    ("text", "kind"),
    [
        ("# noqa: S603 - our own program", "# noqa: S603"),
        ("// eslint-disable-next-line no-eval -- trusted", "// eslint-disable-next-line no-eval"),
        ("# noqa: E501 # long", "# noqa: E501"),
        ("/* c8 ignore next */", "/* c8 ignore next"),
    ],
)
def test_an_excuse_without_its_reason_is_its_kind(text, kind):
    path = "a.py" if text.startswith("#") else "a.js"
    assert [each.kind for each in excuses(path, text, {1})] == [kind]


def test_a_check_names_the_lines_that_were_excused():
    found = excuses("a.py", "# one\n\n\nx = 1\n# two\n", {1, 5})
    assert [each.text for each in near(found, "a.py:4:1: bad")] == ["# two"]
    assert [each.text for each in near(found, "a.py: bad")] == ["# one", "# two"]
    assert near(found, "b.py:1") == found


@cases(
    ("line", "words", "rules"),
    [
        ("x = 1  # noqa: F401", "noqa", "F401"),
        ("x = 1  #NOQA:F401,E402", "noqa", "F401 E402"),
        ("# noqa: E501, F401 - why", "noqa", "E501 F401"),
        ("# ruff: noqa: E501", "ruff:noqa", "E501"),
        ("# type: ignore[arg-type, misc]  # why", "type:ignore", "arg-type misc"),
        ("# pylint: disable=W0611,too-many-lines", "pylint:disable", "W0611 too-many-lines"),
        ("f() // eslint-disable-line no-eval, @typescript-eslint/no-x -- why", "eslint-disable-line", "no-eval @typescript-eslint/no-x"),
        ("// biome-ignore lint/style/noVar: why", "biome-ignore", "lint/style/noVar"),
        ("//nolint:errcheck,gosec // why", "nolint", "errcheck gosec"),
        ("# shellcheck disable=SC2086,SC2034", "shellcheckdisable", "SC2086 SC2034"),
        ('@SuppressWarnings({"unchecked", "rawtypes"})', "suppresswarnings", "unchecked rawtypes"),
        ("#[allow(dead_code)]", "allow", "dead_code"),
        ("# NOQA", "", ""),
        ("# noqa because it is so", "", ""),  # of all rules, whatever the words
        ("/* eslint-disable */", "", ""),
        ("# what is not named is no rule", "", ""),
        ("x = ignored(1)", "", ""),
    ],
)  # fmt: skip
def test_what_excuses_names_its_rules(line, words, rules):
    assert rules_in(line) == {(words, rule) for rule in rules.split()}
