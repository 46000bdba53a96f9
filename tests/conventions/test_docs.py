"""The documents hold what they promise: links lead somewhere, what they name exists, and what the code cites is there."""

import ast
import io
import os
import re
import subprocess
import sys
import tokenize
import tomllib
from functools import cache
from pathlib import Path

import pytest
import typer
from support import ROOT
from support.cases import cases

from noface.cli.main import SUBVERBS, VERBS, build
from noface.config.load import parse
from noface.config.problems import InvalidConfigError, sections
from noface.model.taxonomy import Category, FailureKind

DOCS = ROOT / "docs"
PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
    *sorted(DOCS.glob("*.md")),
    *sorted(ROOT.glob("examples/**/*.md")),
]
PAGES = [page for page in PAGES if page.parent.name != "issues"]
NAMES = [page.relative_to(ROOT).as_posix() for page in PAGES]
TEXTS = {name: (ROOT / name).read_text() for name in NAMES}
README_LINES_MAX = 150
DOCS_MAX, WORDS_MAX = 14, 25_000
ROWS_CITED_MIN = 40

CITED_FROM = [
    path
    for folder, endings in (("noface", (".py", ".sql", ".toml", ".j2")), ("tests", (".py",)))
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in endings and path.is_file() and not {"ways", "recordings", "__pycache__"} & set(path.parts)
]
CODE = {path.relative_to(ROOT).as_posix(): path.read_text() for path in CITED_FROM if path != Path(__file__)}

LINK = re.compile(r"\]\((?!https?:)([^)\s]*)\)")
LAWS = re.compile(r"\blaws? (\d+(?:(?:, | and |, and )\d+)*)")
ROW = re.compile(r"\b[NLSKPI]\d{1,2}\b")
ELSEWHERE = re.compile(r"\b(?:SAFETY|DESIGN|DECISIONS|PERFORMANCE|HOUSE|STYLE|BRIEF)\b(?!\")|/work/shared")


def anchors(text: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", re.sub(r"```.*?```", "", text, flags=re.DOTALL), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def prose(name: str) -> str:
    if not name.endswith(".py"):
        return "\n".join(re.findall(r"(?:#|--).*", CODE[name]))
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = [node for node in ast.walk(ast.parse(CODE[name])) if isinstance(node, kinds)]
    tokens = tokenize.generate_tokens(io.StringIO(CODE[name]).readline)
    comments = [token.string for token in tokens if token.type == tokenize.COMMENT]
    return "\n".join([*comments, *(ast.get_docstring(node) or "" for node in nodes)])


def spans(text: str) -> list[str]:
    """Return what stands in `code` and in the lines of shell blocks."""
    blocks = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    lines = [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]
    return re.findall(r"`([^`]+)`", re.sub(r"```.*?```", "", text, flags=re.DOTALL)) + lines


@cases("name", NAMES)
def test_links_lead_somewhere(name):
    dead = []
    for link in LINK.findall(TEXTS[name]):
        path, _, anchor = link.partition("#")
        target = (ROOT / name).parent / path if path else ROOT / name
        if not target.exists() or (anchor and anchor not in anchors(target.read_text())):
            dead.append(link)
    assert dead == []


def test_every_page_can_be_reached_from_the_readme():
    reached, rest = set(), [ROOT / "README.md"]
    while rest:
        page = rest.pop()
        if page not in reached and page.suffix == ".md":
            reached.add(page)
            rest += [
                (page.parent / link.partition("#")[0]).resolve()
                for link in LINK.findall(page.read_text())
                if link[0] != "#"
            ]
    assert [page.name for page in sorted(DOCS.glob("*.md")) if page not in reached] == []


def test_the_readme_is_short_and_the_pages_are_few():
    assert len(TEXTS["README.md"].splitlines()) <= README_LINES_MAX
    pages = [text for name, text in TEXTS.items() if name.startswith("docs/")]
    assert len(pages) <= DOCS_MAX
    assert sum(len(text.split()) for text in pages) <= WORDS_MAX


def problems(toml: str) -> list[str]:
    """Return what is wrong with a configuration; what is shown in part lacks some keys."""
    try:
        parse(toml, "shown")
    except InvalidConfigError as error:
        return [problem.message for problem in error.problems]
    return []


@cache
def application():
    return typer.main.get_command(build(None))


def command(words: list[str]):
    """Return the command that these words name, as far as they name one."""
    found = application()
    for word in words:
        inner = getattr(found, "commands", {})
        if word not in inner:
            break
        found = inner[word]
    return found


@cases("name", NAMES)
def test_verbs_and_flags_that_are_named_exist(name):
    unknown = []
    for span in spans(TEXTS[name]):
        for part in re.findall(r"(?:^|; |&& )noface ((?:[a-z]|--).*)", re.sub(r"\s+#.*|\n", " ", span)):
            words = part.split()
            flags = {flag.partition("=")[0] for flag in words if re.fullmatch(r"--?[a-z][a-z-]*.*", flag)}
            known = {opt for param in command(words).params for opt in (*param.opts, *param.secondary_opts)}
            known |= {"--version", "--no-color", "--verbose", "--help"}
            if words[0] not in VERBS and not words[0].startswith("-"):
                unknown.append(f"noface {part}")
            if words[0] in SUBVERBS and len(words) > 1 and words[1].isalpha() and command(words) is command(words[:1]):
                unknown.append(f"noface {part}")
            unknown += [f"noface {part}: {flag}" for flag in flags - known]
    assert unknown == []


@cases("name", NAMES)
def test_targets_of_make_that_are_named_exist(name):
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {word for span in spans(TEXTS[name]) for word in re.findall(r"^make ([a-z-]+)", span)}
    assert named - targets <= {"check"}  # `make check` of somebody else's project


@cases("name", NAMES)
def test_toml_that_is_shown_holds_known_keys_only(name):
    for block in re.findall(r"```toml\n(.*?)```", TEXTS[name], re.DOTALL):
        given = tomllib.loads(block)
        assert set(given) <= set(sections())
        assert [problem for problem in problems(block) if "unknown" in problem] == []


def test_the_policy_that_is_shown_is_the_one_in_force(tmp_path):
    config = tmp_path / "noface.toml"
    models = 'default_model = "claude-sonnet"\nescalation_model = "claude-opus"'
    config.write_text(f'[[gates]]\nname = "tests"\ncommand = "true"\n[retry]\n{models}\n')
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    argv = [sys.executable, "-m", "noface", "policy", "--config", str(config)]
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    done = subprocess.run(argv, capture_output=True, text=True, check=True, cwd=tmp_path, env=environment)
    shown = TEXTS["docs/recovery.md"].partition("$ noface policy\n")[2].partition("\n…")[0]
    printed = iter(done.stdout.splitlines())
    assert [line for line in shown.splitlines() if line not in printed] == []


def test_laws_that_the_code_cites_stand_in_the_design():
    section = TEXTS["docs/design.md"].partition("## The laws")[2].partition("\n## ")[0]
    laws = re.findall(r"^(\d+)\. \*\*", section, re.MULTILINE)
    assert laws == [str(number) for number in range(1, 14)]
    cited = {law for text in CODE.values() for group in LAWS.findall(text) for law in re.findall(r"\d+", group)}
    assert cited
    assert cited - set(laws) == set()


def test_rows_that_the_code_cites_stand_in_the_requirements_or_the_design():
    there = set(re.findall(r"^\| ([NLSKPC]\d+) \|", (ROOT / "tests" / "REQUIREMENTS.md").read_text(), re.MULTILINE))
    there |= set(re.findall(r"^\| (I\d+) \|", TEXTS["docs/design.md"], re.MULTILINE))
    cited = {(name, row) for name, text in CODE.items() if ROW.search(text) for row in ROW.findall(prose(name))}
    assert len({row for _, row in cited}) > ROWS_CITED_MIN
    assert sorted((name, row) for name, row in cited if row not in there) == []


def test_pages_that_the_code_cites_exist():
    own = {name: text for name, text in CODE.items() if name.startswith("noface/")}
    cited = {(name, page) for name, text in own.items() for page in re.findall(r"\bdocs/[a-z]+\.md\b", text)}
    dead = [(name, page) for name, page in sorted(cited) if not (ROOT / page).exists() and page != "docs/dates.md"]
    assert dead == []


def test_sections_that_the_code_cites_exist():
    """They are cited as `(docs/facts.md, "Sealed git")` or `(docs/design.md, State)`."""
    cited = re.findall(
        r"\((docs/\w+\.md), \"?([A-Z][^)\"\n]+)\"?\)",
        "\n".join(prose(name) for name, text in CODE.items() if "docs/" in text),
    )
    assert cited
    headings = {page: re.findall(r"^#+ (.+)$", TEXTS[page], re.MULTILINE) for page, _ in cited}
    assert [(page, section) for page, section in cited if section not in headings[page]] == []


def test_nothing_cites_a_document_outside_the_repository():
    comments = {name: [line for line in text.splitlines() if ELSEWHERE.search(line)] for name, text in CODE.items()}
    texts = {name: [line for line in text.splitlines() if ELSEWHERE.search(line)] for name, text in TEXTS.items()}
    assert {name: lines for name, lines in (comments | texts).items() if lines} == {}


@pytest.mark.parametrize("name", ["docs/design.md", "docs/recovery.md"])
def test_every_kind_of_failure_is_described(name):
    tables = "\n".join(line for line in TEXTS[name].splitlines() if line.startswith("|"))
    assert [kind for kind in FailureKind if not re.search(rf"\b{kind}\b", tables)] == []


def test_kinds_stand_beside_their_category():
    rows = re.findall(r"^\| ([a-z ]+) \| ([A-Z_, ]+) \|", TEXTS["docs/design.md"], re.MULTILINE)
    told = {category.replace(" ", "_"): set(kinds.split(", ")) for category, kinds in rows}
    assert told == {str(each): {str(kind) for kind in FailureKind if kind.category is each} for each in Category}


def test_every_dependency_has_its_line():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    needed = [re.split(r"[<>=\[ ]", each)[0] for each in project["dependencies"]]
    section = TEXTS["docs/design.md"].partition("## Dependencies")[2]
    assert sorted(re.findall(r"^\| ([a-z][\w-]+) \|", section, re.MULTILINE)[1:]) == sorted(needed)


def test_the_map_names_every_room():
    section = TEXTS["CONTRIBUTING.md"].partition("## Find your way")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (`.+?`) \|", section, re.MULTILINE)
    rooms = {path.parent.name for path in (ROOT / "noface").glob("*/__init__.py")}
    assert {room for row in rows for room in re.findall(r"`(\w+)`", row)} == rooms


def test_files_that_the_map_names_exist():
    named = set(re.findall(r"`([a-z]+/[a-z_/]+(?:\.\w+)?)`", TEXTS["CONTRIBUTING.md"]))
    places = (ROOT, ROOT / "noface")
    assert [path for path in sorted(named) if not any((place / path).exists() for place in places)] == []
