"""What a box is made of, without making one: the mounts for a home, what is shown, hidden and written."""

import os
import shutil
import socket

import pytest

from noface.agents.base import AGENTS
from noface.data import table
from noface.process.sandbox import Box, find_bubblewrap
from noface.process.sandbox_home import AgentHome, Home, HomeRule, below, home_rules, make_mount_point, places_of


@pytest.fixture
def made(tmp_path):
    """Make a home with these files and return its box's mounts: target → (option, source)."""

    def made(files, rules, agent=(), **more):
        home, fresh, caches, session = (tmp_path / name for name in ("home", "fresh", "caches", "session"))
        for folder in (home, fresh, caches, session):
            folder.mkdir(exist_ok=True)
        for name in files:
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(name)
        for name, target in more.pop("links", {}).items():
            (home / name).symlink_to(target)
        rules = dict(rules)
        personal = more.pop("personal", False)
        for each in agent:
            rules |= each.rules(os.path.relpath(each.place(str(home), more.get("env", {})), home), personal=personal)
        more.pop("env", None)
        box = Box(
            "bwrap",
            (Home(str(home), str(fresh), str(caches), rules, session=str(session), made=more.pop("made", "")),),
            str(tmp_path / "tmp"),
            **more,
        )
        line = list(box.command_line(("true",), "/"))
        found = {}
        for at, option in enumerate(line):
            if option in ("--bind", "--ro-bind", "--symlink"):
                found[line[at + 2].removeprefix(f"{home}/")] = (option, line[at + 1])
            elif option in ("--tmpfs", "--dev", "--proc"):
                found[line[at + 1].removeprefix(f"{home}/")] = (option, "")
        return found

    return made


def test_what_has_no_rule_is_not_there(made):
    mounts = made(("notes.txt", "src/a.py", "src/b.py"), {"src/a.py": HomeRule.READ})
    assert mounts["src/a.py"][0] == "--ro-bind"
    assert not {"notes.txt", "src", "src/b.py"} & mounts.keys()


def test_a_cache_is_noface_s_own_and_what_is_known_to_be_large_is_the_persons(made, tmp_path):
    filled(tmp_path / "caches/.cache")
    mounts = made((".cache/pip/x", ".cache/ms-playwright/chromium"), home_rules("/nowhere", {}))
    assert mounts[".cache"] == ("--bind", str(tmp_path / "caches/.cache"))
    assert mounts[".cache/ms-playwright"][0] == "--ro-bind"
    assert ".cache/pip" not in mounts


def test_files_that_programs_lock_are_copies(made, tmp_path):
    mounts = made(
        (".cargo/.package-cache", ".cargo/bin/cargo", ".cargo/credentials.toml"),
        home_rules("/nowhere", {}) | {".cargo/bin": HomeRule.READ},
    )
    assert ".cargo/.package-cache" not in mounts
    assert (tmp_path / "fresh/.cargo/.package-cache").read_text() == ".cargo/.package-cache"
    assert mounts[".cargo/bin"][0] == "--ro-bind"
    assert ".cargo/credentials.toml" not in mounts
    assert (tmp_path / "fresh/.cargo/registry").is_dir()


def filled(folder):
    folder.mkdir(parents=True)
    (folder / "x").write_text("kept")


def test_of_caches_only_those_that_hold_something_are_mounted_and_what_is_put_in_others_is_kept(made, tmp_path):
    rules = home_rules("/nowhere", {})
    filled(tmp_path / "caches/.npm")
    before = made((), rules)
    assert before[".npm"] == ("--bind", str(tmp_path / "caches/.npm"))
    places = [path for path, rule in rules.items() if rule is HomeRule.PRIVATE and path != ".npm"]
    assert not before.keys() & set(places)
    assert all((tmp_path / "fresh" / path).is_dir() for path in places)
    filled(tmp_path / "fresh/go/pkg/mod")
    home = Home(str(tmp_path / "home"), str(tmp_path / "fresh"), str(tmp_path / "caches"), rules)
    home.keep_caches()
    assert (tmp_path / "caches/go_pkg/mod/x").read_text() == "kept"
    assert sorted(each.name for each in (tmp_path / "caches").iterdir()) == [".npm", "go_pkg"]
    shutil.rmtree(tmp_path / "fresh")
    assert made((), rules)["go/pkg"] == ("--bind", str(tmp_path / "caches/go_pkg"))


def test_no_link_that_a_command_has_left_where_a_cache_is_or_above_it_is_followed(made, tmp_path):
    rules = home_rules("/nowhere", {})
    made((), rules)
    for place in (tmp_path / "outside/pkg", tmp_path / "theirs"):
        filled(place)
    fresh = tmp_path / "fresh"
    for path, target in ((fresh / ".npm", tmp_path / "theirs"), (fresh / "go", tmp_path / "outside")):
        shutil.rmtree(path)
        path.symlink_to(target)
    Home(str(tmp_path / "home"), str(fresh), str(tmp_path / "caches"), rules).keep_caches()
    assert not any((tmp_path / "caches").iterdir())
    assert (tmp_path / "outside/pkg/x").read_text() == (tmp_path / "theirs/x").read_text() == "kept"


def test_nothing_is_mounted_only_to_be_hidden(made, tmp_path):
    (tmp_path / "repo/.git/objects").mkdir(parents=True)
    objects = str(tmp_path / "repo/.git/objects")
    box = Box("bwrap", (), str(tmp_path), visible=(objects,), hidden=(str(tmp_path / "repo/.git"),))
    line = box.command_line(("true",), "/")
    assert line.count(objects) == 2  # what is mounted, and where
    assert line.index(objects) > line.index(str(tmp_path / "repo/.git"))


def test_of_what_setup_has_left_links_stay_links_and_sockets_are_left_out(made, tmp_path):
    left = tmp_path / "made"
    left.mkdir()
    (left / "link").symlink_to("real.txt")
    (left / "away").symlink_to("/etc")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(f"/proc/self/fd/{os.open(left, os.O_RDONLY)}/agent.sock")  # its name may be too long
        mounts = made((), {}, made=str(left))
    assert mounts["link"] == ("--symlink", "real.txt")
    assert mounts["away"] == ("--symlink", "/etc")
    assert "agent.sock" not in mounts


def test_an_agents_folder_has_its_settings_to_read_its_login_to_write_and_nothing_else(made, tmp_path):
    rules = home_rules("/nowhere", {})
    files = (
        ".claude/settings.json",
        ".claude/.credentials.json",
        ".claude/mine.sh",
        ".claude.json",
        ".codex/auth.json",
    )
    mounts = made(files, rules, AGENTS["claude"].homes)
    assert mounts[".claude/settings.json"][0] == "--ro-bind"
    assert mounts[".claude/.credentials.json"][0] == "--bind"
    assert mounts[".claude/projects"] == ("--bind", str(tmp_path / "session/.claude/projects"))
    assert ".claude/mine.sh" not in mounts
    assert (tmp_path / "fresh/.claude.json").read_text() == ".claude.json"
    assert not any(path.startswith(".codex") for path in mounts)


def test_the_folder_that_a_variable_names_stands_for_the_agents_own(made, tmp_path):
    env = {"CODEX_HOME": str(tmp_path / "home/work/codex")}
    mounts = made(
        ("work/codex/auth.json", ".codex/auth.json"), home_rules("/nowhere", {}), AGENTS["codex"].homes, env=env
    )
    assert mounts["work/codex/auth.json"][0] == "--bind"
    assert ".codex" not in mounts
    assert AgentHome(".x", "X_HOME").place("/home/ada", {"X_HOME": "/data/x"}) == "/data/x"


def test_what_setup_has_made_is_there_but_never_in_place_of_what_a_rule_shows_or_of_a_place_for_more(made, tmp_path):
    for name in (".tool/x", "notes.txt", "shown.txt", "repo/a", "repo/inner/b"):
        (tmp_path / "made" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "made" / name).write_text("of setup")
    (tmp_path / "home/repo/inner").mkdir(parents=True)
    rules, left = {"shown.txt": HomeRule.READ}, str(tmp_path / "made")
    mounts = made(("notes.txt", "shown.txt"), rules, made=left, visible=(str(tmp_path / "home/repo/inner"),))
    assert mounts[".tool"] == ("--ro-bind", f"{left}/.tool")
    assert mounts["notes.txt"][1] == f"{left}/notes.txt"
    assert mounts["shown.txt"][1] == str(tmp_path / "home/shown.txt")
    assert "repo" not in mounts
    assert mounts["repo/inner"][1] == str(tmp_path / "home/repo/inner")


def test_shown_places_are_read_also_below_a_secret_one(made, tmp_path):
    rules = home_rules("/nowhere", {}) | {".ssh/config": HomeRule.READ}
    mounts = made((".ssh/config", ".ssh/id"), rules)
    assert mounts[".ssh/config"][0] == "--ro-bind"
    assert ".ssh/id" not in mounts


@pytest.mark.parametrize("name", [name for name in AGENTS if table("agents")[name].get("homes")])
def test_what_an_agent_keeps_in_the_home_is_hidden_from_gates_and_from_other_agents(name):
    rules = home_rules("/nowhere", {})
    for home in AGENTS[name].homes:
        assert rules.get(home.path) is HomeRule.HIDDEN, home.path
    hidden = [path for path, rule in rules.items() if rule is HomeRule.HIDDEN]
    login = table("agents")[name]["login"]
    folder = f"{login['folder']}/" if "folder" in login else ""
    for file in login["files"]:
        assert below(folder + file, hidden), file


def test_the_login_of_an_agent_without_a_home_is_secret_and_in_its_own_home_nothing_is_named_twice():
    login = {"folder": ".config/new", "files": ["key", "own/auth.json"]}
    assert list(places_of({"login": login})) == [".config/new/key", ".config/new/own/auth.json"]
    assert list(places_of({"login": login, "homes": [{"path": ".config/new"}]})) == [".config/new"]
    assert list(places_of({})) == []


def test_the_lists_are_sorted_and_name_each_place_once():
    data = table("sandbox_places")
    caches, home = data["caches"], data["home"]
    rebuilt = [entry["keys"] for entry in data["rebuilt"].values()]
    names = ("toolchains", "many", "programs", "marks", "layout", "settings", "whole")
    for listed in (*caches.values(), *(home[name] for name in names), *rebuilt, data["private"]["needed"]):
        assert list(listed) == sorted(set(listed))
        assert not any(path.endswith("/") or "~" in path for path in listed)


def test_a_bubblewrap_that_does_not_work_is_told_with_its_own_words(tmp_path):
    fake = tmp_path / "bwrap"
    fake.write_text(
        "#!/bin/sh\n[ \"$1\" = --version ] && exec echo bubblewrap 9.9\necho 'bwrap: no namespaces' >&2; exit 1\n"
    )
    fake.chmod(0o755)
    found = find_bubblewrap(str(fake))
    assert (found.works, found.version) == (False, "9.9")
    assert "no namespaces" in found.problem
    assert find_bubblewrap(None).problem == "bubblewrap is not installed"


# What an agent may have written in


def test_of_what_setup_left_nothing_stands_in_for_what_a_rule_names(made, tmp_path):
    left = tmp_path / "made"
    (left / ".claude").mkdir(parents=True)
    (left / ".claude/settings.json").write_text("hooks")
    (left / ".codex").mkdir()
    (left / ".codex/auth.json").symlink_to("/")
    (left / ".cache").symlink_to("/etc")
    (left / ".config").symlink_to("/etc")
    (left / ".tool").symlink_to("/etc/passwd")
    homes = AGENTS["claude"].homes + AGENTS["codex"].homes
    mounts = made((), home_rules("/nowhere", {}), homes, made=str(left))
    assert not any(path.startswith((".claude/settings", ".codex/auth", ".config/")) for path in mounts)
    assert not any(
        source.startswith(("/etc", f"{left}/.c")) for option, source in mounts.values() if option != "--symlink"
    )
    assert mounts[".tool"] == ("--symlink", "/etc/passwd")  # it leads where it leads in the box


def test_a_place_for_a_mount_is_made_through_no_link(tmp_path):
    cache, outside = tmp_path / "cache", tmp_path / "outside"
    cache.mkdir()
    outside.mkdir()
    (cache / "noface").symlink_to(outside)
    make_mount_point(str(cache), "noface/repo/agent-0", folder=True)
    assert (cache / "noface/repo/agent-0").is_dir()
    assert not (cache / "noface").is_symlink()
    assert list(outside.iterdir()) == []
    (cache / "file").mkdir()
    (cache / "file/x").write_text("")
    make_mount_point(str(cache), "file", folder=False)
    assert (cache / "file").is_file()
    (cache / "dangling").symlink_to(tmp_path / "nothing")
    make_mount_point(str(cache), "dangling", folder=False)
    assert (cache / "dangling").is_file()
    assert not (tmp_path / "nothing").exists()


def test_a_copy_is_made_of_regular_files_only(made, tmp_path):
    (tmp_path / "home").mkdir()
    os.mkfifo(tmp_path / "home/state")
    made((), {"state": HomeRule.COPIED})
    assert not (tmp_path / "fresh/state").exists()


def test_nothing_is_mounted_at_a_link_in_a_place_that_can_be_read(made):
    rules = {"a": HomeRule.READ, "a/read": HomeRule.READ, "a/shared": HomeRule.SHARED, "a/own": HomeRule.SHARED}
    mounts = made(("a/own", "dotfiles/x"), rules, links={"a/read": "../dotfiles/x", "a/shared": "../dotfiles/x"})
    assert {path for path in mounts if path.startswith("a")} == {"a", "a/own"}


def test_a_secret_in_a_place_that_can_be_read_is_covered(made):
    rules = {"tools": HomeRule.READ, "tools/token": HomeRule.HIDDEN, "tools/store": HomeRule.PRIVATE}
    mounts = made(("tools/token", "tools/x", "tools/store/y"), rules)
    assert mounts["tools"][0] == "--ro-bind"
    assert mounts["tools/token"] == ("--ro-bind", "/dev/null")
    assert mounts["tools/store"][0] == "--bind"  # a cache is written to there as well
