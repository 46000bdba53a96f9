"""What a person's git and main's own settings lead to: through links, included files, and the words of commands."""

import pytest
from support.git_ground import a_bench, git

from noface.attempt.protected_files import named_instructions, named_programs
from noface.integrity.named_files import Tree


@pytest.fixture
def bench(tmp_path):
    return a_bench(tmp_path, {"a.txt": "a\n"})


def put(bench, files, links=()):
    for name, text in files.items():
        file = bench.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    for name, target in dict(links).items():
        (bench.path / name).parent.mkdir(parents=True, exist_ok=True)
        (bench.path / name).symlink_to(target)
    git(bench.path, "add", "-A")
    git(bench.path, "commit", "-q", "-m", "more")


def instructions(bench):
    return named_instructions(bench.plumbing, git(bench.path, "rev-parse", "main"))


def programs(bench):
    return named_programs(bench.plumbing, git(bench.path, "rev-parse", "main"))


@pytest.mark.parametrize(
    ("files", "links", "led_to"),
    [
        ({"agentcfg/settings.json": "{}"}, {".claude": "agentcfg"}, ("agentcfg",)),
        ({"tools/hooks/pre-commit": "x"}, {".husky": "tools/hooks"}, ("tools/hooks",)),
        ({"docs/b.md": "x"}, {"CLAUDE.md": "docs/a.md", "docs/a.md": "b.md"}, ("docs/a.md", "docs/b.md")),
        ({"docs/ai.md": "x"}, {".github/copilot-instructions.md": "../docs/ai.md"}, ("docs/ai.md",)),
        ({"pkg/guide.md": "x"}, {"pkg/CLAUDE.md": "guide.md"}, ("pkg/guide.md",)),
        ({"ai/skills/s/SKILL.md": "x"}, {".claude/skills": "../ai/skills"}, ("ai/skills",)),
        ({"ai/s/x.md": "x"}, {".claude": "cfg", "cfg/skills": "../ai/s"}, ("ai/s", "cfg", "cfg/skills")),
        ({"real/docs/a.md": "x"}, {"docs": "real/docs", "CLAUDE.md": "docs/a.md"}, ("docs", "real/docs/a.md")),
        ({"x": "x"}, {"CLAUDE.md": "AGENTS.md", "AGENTS.md": "CLAUDE.md", "GEMINI.md": "/etc/passwd"}, ()),
    ],
)
def test_what_links_at_protected_places_lead_to_is_protected(bench, files, links, led_to):
    put(bench, files, links)
    assert instructions(bench) == led_to


@pytest.mark.parametrize(
    ("name", "text", "script"),
    [
        (".claude/settings.json", '{"hooks": {"command": "bash tools/x.sh"}}', "tools/x.sh"),
        (".claude/settings.json", '{"command": "$CLAUDE_PROJECT_DIR/tools/x.sh"}', "tools/x.sh"),
        ("pkg/.claude/settings.json", '{"command": "sh tools/x.sh"}', "pkg/tools/x.sh"),
        (".mcp.json", '{"mcpServers": {"x": {"command": "node", "args": ["tools/x.js"]}}}', "tools/x.js"),
        (".envrc", "source ./tools/env.sh\n", "tools/env.sh"),
        (".husky/pre-commit", "node tools/x.js\n", "tools/x.js"),
    ],
)
def test_scripts_that_main_s_settings_and_hooks_run_are_protected(bench, name, text, script):
    put(bench, {name: text, script: "true\n", "other.txt": "x"})
    assert programs(bench) == (script,)


def test_what_the_person_s_configuration_includes_and_runs_is_protected(bench):
    put(
        bench, {".gitconfig": "[alias]\n\tst = !sh tools/st.sh\n", "tools/st.sh": "true", "tools/f.sh": "cat", "b": "b"}
    )
    git(bench.path, "config", "include.path", "../.gitconfig")
    git(bench.path, "config", "--add", "include.path", "../not-there-yet")
    git(bench.path, "config", "filter.f.smudge", "sh tools/f.sh")
    git(bench.path, "config", "diff.x.textconv", f"{bench.path}/b")
    assert programs(bench) == (".gitconfig", "b", "not-there-yet", "tools/f.sh", "tools/st.sh")


def test_the_person_s_hooks_are_protected_through_links_and_by_their_words(bench):
    put(bench, {"tools/hooks/pre-commit": "sh tools/lint.sh\n", "tools/lint.sh": "x"}, {"hk": "tools/hooks"})
    assert programs(bench) == ()
    git(bench.path, "config", "core.hooksPath", "hk")
    assert programs(bench) == ("hk", "tools/hooks", "tools/lint.sh")


def test_hooks_of_the_git_dir_that_lead_into_the_tree_are_protected(bench):
    put(bench, {"tools/x": "x", "tools/y.sh": "y", "z": "z"})
    hooks = bench.path / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    (hooks / "pre-commit").symlink_to("../../tools/x")
    (hooks / "post-merge").write_text('#!/bin/sh\nexec "$(git rev-parse --show-toplevel)/tools/y.sh"\n')
    (hooks / "pre-push.sample").write_text("z\n")
    assert programs(bench) == ("tools/x", "tools/y.sh")


def test_a_way_through_links_ends():
    tree = Tree(frozenset({"a", "b", "c/d"}), {"a": "b", "b": "a"})
    assert set(tree.places("a")) == {"a", "b"}
    assert tree.places("c/d") == ("c/d",)


def test_a_worker_s_filter_script_does_not_run_when_its_work_lands(project):
    mark = project.path.parent / "it-ran"
    project.play(("7", 1, [{"shell": f"echo 'touch {mark}; cat' > tools/smudge.sh; echo 2 > x.dat"}]))
    project.write("tools/smudge.sh", "cat\n")
    project.write(".gitattributes", "*.dat filter=f\n")
    project.write("x.dat", "1\n")
    project.git("config", "filter.f.smudge", "sh tools/smudge.sh")
    project.git("config", "filter.f.clean", "cat")
    project.config()
    project.issue(7)
    project.issue(8)
    project.commit()
    project.run("--issue", "7")
    assert project.git("show", "main:x.dat") == "2"
    assert project.git("show", "main:tools/smudge.sh") == "cat"
    project.git("rm", "-q", "--cached", "x.dat")
    project.git("reset", "-q", "--hard")
    assert not mark.exists()
