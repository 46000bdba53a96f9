"""noface run in the sandbox: what workers, gates and setup can reach, with the real bubblewrap."""

import json
import os
import pwd
import shutil
import signal
import socket
from pathlib import Path

import pytest
from support.cases import first_ones

from noface.attempt.worker.out_of_reach import missed_places, unseen_places
from noface.model.failure import Failure
from noface.model.taxonomy import FailureKind
from noface.process.sandbox import Box, find_bubblewrap
from noface.process.sandbox_home import Home, home_rules
from noface.process.supervise import Command, Ladder, Launcher

BUBBLEWRAP = find_bubblewrap(shutil.which("bwrap"))
pytestmark = pytest.mark.skipif(not BUBBLEWRAP.works, reason=f"no sandbox here: {BUBBLEWRAP.problem}")


@pytest.fixture
def home(project):
    """The person's home, with what people keep in theirs."""
    for path, text in {
        ".ssh/id_ed25519": "PRIVATE-SSH",
        ".aws/credentials": "PRIVATE-AWS",
        ".claude/.credentials.json": "PRIVATE-CLAUDE",
        ".npmrc": "registry=https://example.org",
        ".gitconfig": "[user]\n\tname = Ada\n\temail = ada@example.org\n[github]\n\ttoken = PRIVATE-GIT\n",
        ".bashrc": "# mine\nexport GITHUB_TOKEN=PRIVATE-RC\n",
        ".config/pip/pip.conf": "[global]\nindex-url = https://ada:PRIVATE-PIP@example.org/\n",
        ".cloudflared/cert.pem": "PRIVATE-TUNNEL",
        "snap/firefox/common/.mozilla/firefox/p/logins.json": "PRIVATE-SNAP",
        "repo/config/master.key": "PRIVATE-KEY",
        "repo/a/b/c/d/terraform.tfvars": 'password = "PRIVATE-TF"',
        "tools/hello": "#!/bin/sh\necho hello\n",
        "precious.txt": "mine\n",
        ".cache/pip/x": "cached",
        "repo/.env": "DATABASE_PASSWORD=PRIVATE-ENV",
    }.items():
        file = project.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (project.folder / "tools/hello").chmod(0o755)
    project.write(".gitignore", ".env\nmaster.key\n*.tfvars\n")
    return project.folder


def sandbox(project, line):
    """Add a line to [sandbox]."""
    text = (project.path / "noface.toml").read_text()
    project.write("noface.toml", text.replace("[sandbox]\n", f"[sandbox]\n{line}\n"))


def told(project, script, *, gate=False, settings="", extra="", **config):
    """Return what a shell script prints as a worker, or as a gate, of a run in the sandbox."""
    name = "gate.txt" if gate else "b.txt"
    if gate:
        config["gate"] = f"{{ {script}; }} > seen.txt 2>&1; cat seen.txt; test ! -e bad"
        project.play(("*", 0, [{"write": "b.txt", "text": "done\n"}]))
    else:
        # The place of the workspace may not land.
        project.play(("*", 0, [{"shell": f"{{ {script}; }} > {name} 2>&1; sed -i s,/slots/,/SLOTS/,g {name}"}]))
    project.config(extra, sandbox="bubblewrap", **config)
    sandbox(project, settings)
    project.issue(1, body=f"Tell of {project.folder}.")
    project.commit()
    project.run()
    if gate:
        return (project.state / "attempts/1/1/gates/check.out").read_text()
    return project.git("show", f"main:{name}")


def test_a_worker_writes_to_its_workspace_and_to_nothing_else(project, home):
    head = project.git("rev-parse", "HEAD")
    script = f"""
    for place in {home}/precious.txt {home}/.bashrc {home}/.gitconfig {project.path}/a.txt {project.path}/.git/config \
        {project.state}/state.db /etc/passwd /usr/bin/env; do
      echo evil >> $place && echo wrote $place
    done
    git config --global user.name Mallory; rm -rf {project.path} {home}/.ssh; echo new > {home}/.profile
    touch {home}/repo/new; true"""
    text = told(project, script)
    assert "wrote /etc" not in text
    assert "wrote /usr" not in text
    assert (home / "precious.txt").read_text() == "mine\n"
    assert (home / ".bashrc").read_text() == "# mine\nexport GITHUB_TOKEN=PRIVATE-RC\n"
    assert "Mallory" not in (home / ".gitconfig").read_text()
    assert (home / ".ssh/id_ed25519").read_text() == "PRIVATE-SSH"
    assert not (home / ".profile").exists()
    assert not (home / "repo/new").exists()
    assert project.git("status", "--porcelain") == ""
    assert (home / "repo/a.txt").read_text() == "one\n"
    assert (home / "repo/.env").exists()
    assert project.git("merge-base", head, "main") == head


def test_who_is_only_asked_writes_nowhere_but_in_its_own_folder_unless_the_role_may(project, home):
    """A role's program may have a shell and nothing that keeps it from writing; a command writes where its worker does."""
    beyond = home / "beyond"
    beyond.mkdir()
    tries = (
        f"for place in . .git {beyond} {home}/repo; do echo x > $place/mine && echo wrote $place; done; cat a.txt b.txt"
    )
    approves = {"say": json.dumps({"verdict": "approve", "summary": "Fine."})}
    project.play(
        ("*", 0, [{"write": "b.txt", "text": "done\n"}]),
        ("*", 0, [{"shell": f"{{ {tries}; }} 2>&1"}, approves], "review"),
    )
    project.config('[roles]\nreviewer = "small"\n[review]\nwhen = "always"\n', sandbox="bubblewrap")
    sandbox(project, f'write = ["{beyond}"]')
    project.issue(1, body=f"Tell of {project.folder}.")
    project.commit()
    project.run()
    assert project.statuses() == {"1": "merged"}
    (log,) = project.state.glob("attempts/1/1/ask-1-review/agent.log")
    assert [line for line in log.read_text().splitlines() if line.startswith("wrote")] == [f"wrote {beyond}"]
    assert "one\ndone\n" in log.read_text()


def test_a_worker_sees_the_home_but_no_secret_no_state_and_no_other_slot(project, home):
    script = f"""
    cat {home}/.ssh/id_ed25519 {home}/.aws/credentials {home}/.claude/.credentials.json {project.path}/.env
    ls -A {project.path}/.git {home}/slots/*; {home}/tools/hello; cat {home}/.npmrc {project.path}/a.txt
    git log --oneline | head -3; echo HOME=$HOME TMPDIR=$TMPDIR; git config user.name; grep -rs 'PRI[V]ATE' {home}"""
    text = told(project, script)
    assert "PRIVATE" not in text
    assert "hello" in text
    assert "registry=" in text
    assert "Ada" in text
    assert "exampleone" in text.replace("\n", "").replace(".org", "")
    assert "first" in text or "work" in text  # its own git works
    assert "state.db" not in text
    assert "config" not in text
    assert "gate-" not in text
    assert f"HOME={home} TMPDIR=/tmp" in text


def test_a_gate_sees_no_login_at_all_and_gets_only_what_is_named_of_the_environment(project, home):
    project.env = {"GITHUB_TOKEN": "ghx-secret-1234", "DATABASE_URL": "postgres://x", "FOO_LEVEL": "3"}
    extra = ""
    text = told(
        project,
        f"env; cat {home}/.claude/.credentials.json; echo x > {home}/precious.txt; grep -rs 'PRI[V]ATE' {home}; true",
        gate=True,
        extra=extra,
    )
    for hidden in ("ghx-secret", "postgres://", "FOO_LEVEL", "PRIVATE"):
        assert hidden not in text
    assert (home / "precious.txt").read_text() == "mine\n"
    assert "TMPDIR=/tmp" in text


def test_env_pass_gives_a_gate_what_it_names(project):
    project.env = {"DATABASE_URL": "postgres://x", "OTHER": "y"}
    project.play(("*", 0, [{"write": "b.txt", "text": "done\n"}]))
    project.config()
    text = (project.path / "noface.toml").read_text()
    project.write("noface.toml", text.replace("[models.small]", 'env_pass = ["DATABASE_*"]\n\n[models.small]', 1)
                  .replace(text.split("command = ")[1].split("\n")[0], '"env; true"', 1))  # fmt: skip
    project.issue(1, body=f"Tell of {project.folder}.")
    project.commit()
    project.run()
    seen = (project.state / "attempts/1/1/gates/check.out").read_text()
    assert "DATABASE_URL=postgres://x" in seen
    assert "OTHER" not in seen


def test_a_worker_has_no_capability_reaches_no_process_outside_and_has_its_own_tmp_and_run(project):
    mark = project.folder.parent / f"{project.folder.name}-outside"
    mark.write_text("x")
    text = told(
        project,
        "ls /proc | grep -c '^[0-9]'; grep -E 'CapEff|NoNewPrivs' /proc/self/status; mount -t tmpfs x /mnt;"
        f" unshare -m true; ls {mark}; ls -A /run /var/tmp; echo x > /tmp/mine && echo wrote;"
        " kill -9 1; setsid sleep 1000 & disown; echo here",
    )
    assert int(text.split()[0]) < 12
    assert project.processes() == []
    assert "CapEff:\t0000000000000000" in text
    assert "NoNewPrivs:\t1" in text
    assert "No such file" in text
    assert "wrote\nhere" in text
    assert not os.path.exists("/tmp/mine")  # noqa: PTH110


def test_a_folder_of_programs_that_is_closed_to_the_person_is_no_hindrance(project):
    closed = project.folder / "closed/bin"
    closed.mkdir(parents=True)
    closed.parent.chmod(0)
    project.env = {"PATH": f"{closed}:{os.environ['PATH']}"}
    try:
        if os.access(closed, os.X_OK):
            pytest.skip("nothing is closed to this user")
        assert told(project, "echo here") == "here"
    finally:
        closed.parent.chmod(0o755)


def test_what_setup_leaves_in_the_home_is_there_for_gates_and_what_one_leaves_there_or_in_tmp_for_no_other(project):
    setup = "mkdir -p ~/.local/made ~/.cache/tool && echo kept > ~/.made && echo cached >> ~/.cache/tool/x"
    project.config(
        f"\n[project]\nsetup = {json.dumps(setup)}\n",
        gate="cat ~/.made ~/.cache/tool/x && test ! -e ~/.left && test ! -e /tmp/left && touch ~/.left /tmp/left",
        sandbox="bubblewrap",
    )
    project.issue(1, body=f"Tell of {project.folder}.")
    project.issue(2)
    project.play(("1", 0, [{"write": "b.txt", "text": "1"}]), ("2", 0, [{"write": "c.txt", "text": "2"}]))
    project.commit()
    project.run()
    assert set(project.statuses().values()) == {"merged"}
    seen = (project.state / "attempts/1/1/gates/check.out").read_text()
    assert seen.split()[:2] == ["kept", "cached"]
    assert not (project.folder / ".made").exists()
    assert not (project.folder / ".cache/tool").exists()


def test_a_sandbox_that_was_asked_for_and_cannot_be_had_is_an_error_before_anything_runs(project):
    project.config(sandbox="bubblewrap")
    project.issue(1, body=f"Tell of {project.folder}.")
    project.commit()
    folder = project.folder / "bin"
    folder.mkdir()
    for name in ("git", "bash", "env", "sh"):
        (folder / name).symlink_to(shutil.which(name))
    done = project.noface("run", PATH=str(folder))
    assert done.returncode == 2
    assert "bubblewrap is not installed" in done.stderr
    assert "apt install bubblewrap" in done.stderr


def test_auto_works_without_bubblewrap_and_says_loudly_that_there_is_no_sandbox(project):
    project.config(sandbox="auto")
    project.issue(1, body=f"Tell of {project.folder}.")
    project.commit()
    folder = project.folder / "bin"
    folder.mkdir()
    for name in ("git", "bash", "env", "sh", "test", "cat"):
        (folder / name).symlink_to(shutil.which(name))
    shown = project.run(PATH=str(folder))
    assert "no sandbox" in shown
    assert "bubblewrap is not installed" in shown


def test_a_gate_that_is_green_only_outside_is_named_with_the_key_to_set(project, home):
    project.config(gate=f"cat {home}/.ssh/id_ed25519", sandbox="auto")
    project.issue(1, body=f"Tell of {project.folder}.")
    project.commit()
    shown = project.run(code=3)
    assert "only outside the sandbox" in shown
    assert f'set show = ["{home}/.ssh"] in [sandbox], or sandbox = "none"' in shown
    assert project.statuses()["1"] == "ready"


@pytest.mark.thorough
def test_a_gate_that_lacks_a_variable_is_named_with_it(project):
    project.env = {"DATABASE_URL": "postgres://x"}
    project.config(gate="test x$DATABASE_URL != x", sandbox="none")
    project.issue(1, body=f"Tell of {project.folder}.")
    project.commit()
    shown = project.run(code=3)
    assert 'env_pass = ["DATABASE_URL"]' in shown


@pytest.mark.thorough
def test_wrap_is_put_before_every_command_with_its_folders_filled_in(project):
    words = ["env", "WRAPPED=1", "PLACE={workspace}", "OWN={session}", "SCRATCH={tmp}"]
    project.config(gate="echo gate $WRAPPED; test -d $SCRATCH", sandbox="auto")
    sandbox(project, f"wrap = {json.dumps(words)}")
    project.play(("*", 0, [{"shell": "echo $WRAPPED > b.txt; echo x > $OWN/note; test $PLACE = $PWD"}]))
    project.issue(1, body=f"Tell of {project.folder}.")
    project.commit()
    shown = project.run()
    assert "[sandbox] wrap" in shown
    assert project.git("show", "main:b.txt") == "1"
    assert (project.state / "attempts/1/1/session/note").exists()
    assert "gate 1" in (project.state / "attempts/1/1/gates/check.out").read_text()


def test_an_agent_has_its_own_login_to_write_its_settings_to_read_and_no_other_agents(project, home):
    for path, text in {
        ".claude/settings.json": "{}",
        ".codex/auth.json": "PRIVATE-CODEX",
        ".claude.json": "{}",
    }.items():
        (home / path).parent.mkdir(exist_ok=True)
        (home / path).write_text(text)
    agent = project.folder / "bin/claude"
    agent.parent.mkdir()
    agent.write_text("""#!/bin/bash
[ "$1" = --version ] && exec echo 2.1.197
exec > b.txt 2>&1
cat ~/.claude/.credentials.json; echo RENEWED > ~/.claude/.credentials.json
echo '{"hooks": 1}' > ~/.claude/settings.json; echo new > ~/.claude/CLAUDE.md; cat ~/.codex/auth.json
mkdir -p ~/.claude/projects/p; echo session > ~/.claude/projects/p/s.jsonl; echo '{"a":1}' > ~/.claude.json; cat ~/.claude.json
""")  # fmt: skip
    agent.chmod(0o755)
    extra = f'\n[models.real]\nagent = "claude"\ncommand = "{agent}"\nenv = {{ ANTHROPIC_API_KEY = "sk-test-1" }}\n'
    project.config(extra, sandbox="bubblewrap")
    project.issue(1, body=f"Tell of {project.folder}.", model="real", accept=["test -e b.txt"])
    project.commit()
    project.run()
    text = project.git("show", "main:b.txt")
    assert "PRIVATE-CLAUDE" in text
    assert "PRIVATE-CODEX" not in text
    assert '{"a":1}' in text
    assert (home / ".claude/.credentials.json").read_text() == "RENEWED\n"
    assert (home / ".claude/settings.json").read_text() == "{}"
    assert not (home / ".claude/CLAUDE.md").exists()
    assert (home / ".claude.json").read_text() == "{}"
    assert (project.state / "attempts/1/1/session/home/.claude/projects/p/s.jsonl").exists()


@pytest.fixture
def boxed(tmp_path):
    """Run a shell script in a box and return how it ended."""

    def boxed(script, *, program="bash", cancel=None, limit=1 << 20):
        for name in ("home", "fresh", "caches", "tmp", "work"):
            (tmp_path / name).mkdir(exist_ok=True)
        rules = home_rules(str(tmp_path / "home"), {})
        home = Home(*(str(tmp_path / name) for name in ("home", "fresh", "caches")), rules)
        work = str(tmp_path / "work")
        box = Box(BUBBLEWRAP.program, (home,), str(tmp_path / "tmp"), writable=(work,))
        log = str(tmp_path / "log")
        env = (("PATH", os.environ["PATH"]), ("HOME", str(tmp_path / "home")))
        with Launcher(Ladder(0.2, 0.2)) as launcher:
            return launcher.run(
                Command((program, "-c", script), work, env, None, log, log, 60.0, None, limit, box), cancel
            )

    return boxed


def test_how_a_program_ended_in_a_box_is_told_as_outside(boxed):
    assert boxed("exit 3").exit_code == 3
    assert boxed("exit 1").error == ""
    assert boxed("kill -SEGV $$").signal == signal.SIGSEGV
    assert boxed("exit 173").exit_code == 173  # as Gemini CLI tells a 429
    assert "program not found: nosuch" in boxed("", program="nosuch").error


def test_the_box_itself_is_nothing_that_a_program_leaves_behind(boxed):
    assert boxed("yes", limit=1000).survivors_killed == 0  # killed with all it had started
    assert boxed("sleep 1000 & exit 0").survivors_killed <= 1  # its process 1 may be there for a moment


def test_a_program_over_its_output_limit_in_a_box_is_told_so_and_not_that_the_box_failed(boxed):
    ended = boxed("yes", limit=100_000)
    assert (ended.output_limit, ended.error) == (True, "")


def test_a_program_that_the_box_hides_is_told_with_the_key_that_shows_it(boxed, tmp_path):
    program = tmp_path / "hidden" / "agent"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    ended = boxed("true", program=str(program))
    assert ended.exit_code is None
    assert f"the sandbox does not show {program}" in ended.error
    assert f'[sandbox] show = ["{program.parent}"]' in ended.error


def test_a_program_of_the_workspace_that_may_not_be_run_is_told_as_that(boxed, tmp_path):
    assert boxed("", program="./agent.sh").exit_code is None  # makes the folders
    (tmp_path / "work/agent.sh").write_text("#!/bin/sh\n")
    assert f"program not executable: {tmp_path}/work/agent.sh" in boxed("", program="./agent.sh").error


def test_what_a_program_has_put_where_a_cache_is_is_there_for_the_next(boxed, tmp_path):
    boxed("mkdir ~/.npm/deep && echo kept > ~/.npm/deep/x; echo lost > ~/x")
    shutil.rmtree(tmp_path / "fresh")
    boxed("cat ~/.npm/deep/x ~/x")
    text = (tmp_path / "log").read_text()
    assert "kept" in text
    assert "lost" not in text


def test_the_kernels_settings_cannot_be_written(boxed, tmp_path):
    boxed("for f in /proc/sys/kernel/core_pattern /proc/sys/vm/swappiness; do cat $f > $f && echo wrote $f; done; true")
    assert "wrote" not in (tmp_path / "log").read_text()


def test_a_socket_in_the_home_cannot_be_reached(boxed, tmp_path):
    (tmp_path / "home/.asdf/run").mkdir(parents=True)
    place = tmp_path / "home/.asdf/run/s"
    with socket.socket(socket.AF_UNIX) as listening:
        descriptor = os.open(place.parent, os.O_RDONLY)
        listening.bind(f"/proc/self/fd/{descriptor}/s")  # a path may be too long for a socket
        os.close(descriptor)
        listening.listen()
        boxed(f"test -S {place} && echo there; ls {place.parent.parent}")
    text = (tmp_path / "log").read_text()
    assert "run" in text
    assert ("there" in text) is (str(place) not in Path("/proc/net/unix").read_text())


@pytest.mark.thorough
def test_an_environment_file_that_is_a_dangling_link_ends_nothing(project):
    (project.path / ".env").symlink_to("/run/nowhere/env")
    (project.path / "sub").mkdir()
    (project.path / "sub/.env").write_text("DEEP=PRIVATE")
    project.write(".gitignore", ".env\n")
    text = told(project, f"cat {project.path}/sub/.env; echo here")
    assert "here" in text
    assert "PRIVATE" not in text


@pytest.mark.parametrize("line", first_ones(['show = ["~/repo/config/master.key"]', 'hide = ["~/repo"]']))
def test_of_the_checkout_hide_takes_all_and_show_gives_what_git_ignores(project, home, line):
    text = told(project, "cat ~/repo/config/master.key ~/repo/a.txt", settings=line)
    assert ("PRIVATE-KEY" in text, "No such file" in text) == (line.startswith("show"), line.startswith("hide"))


@pytest.mark.thorough
def test_a_missing_home_shows_no_secret_of_the_users_own(project, home):
    project.env["HOME"] = str(project.folder / "nothing")
    own = Path(pwd.getpwuid(os.geteuid()).pw_dir)
    secret = [path for path in (".bash_history", ".ssh", ".python_history", ".pki", ".docker") if (own / path).exists()]
    listed = " ".join(str(own / path) for path in secret)
    text = told(
        project,
        f"for f in {listed}; do ls -A $f 2>/dev/null; cat $f 2>/dev/null; done; echo here",
        settings=f'show = ["{project.script}"]',
    )
    assert text == "here"


@pytest.mark.thorough
def test_a_folder_of_an_agents_outside_the_home_is_as_closed_as_one_in_it(project, home):
    folder = project.folder.parent / f"{project.folder.name}-claude"
    folder.mkdir()
    (folder / "settings.json").write_text("{}")
    (folder / ".credentials.json").write_text("PRIVATE-OTHER")
    agent = project.folder / "bin/claude"
    agent.parent.mkdir()
    agent.write_text("""#!/bin/bash
[ "$1" = --version ] && exec echo 2.1.197
cd "$OLDPWD" 2>/dev/null; exec > b.txt 2>&1
cat $CLAUDE_CONFIG_DIR/.credentials.json; echo RENEWED > $CLAUDE_CONFIG_DIR/.credentials.json
echo hooks > $CLAUDE_CONFIG_DIR/settings.json; echo obey > $CLAUDE_CONFIG_DIR/CLAUDE.md; true
""")
    agent.chmod(0o755)
    extra = f'\n[models.real]\nagent = "claude"\ncommand = "{agent}"\nenv = {{ ANTHROPIC_API_KEY = "sk-test-1" }}\n'
    project.env["CLAUDE_CONFIG_DIR"] = str(folder)
    project.config(extra, sandbox="bubblewrap")
    project.issue(1, body=f"Tell of {project.folder}.", model="real", accept=["test -e b.txt"])
    project.commit()
    project.run()
    assert "PRIVATE-OTHER" in project.git("show", "main:b.txt")
    assert (folder / ".credentials.json").read_text() == "RENEWED\n"
    assert (folder / "settings.json").read_text() == "{}"
    assert not (folder / "CLAUDE.md").exists()


def test_once_agents_code_has_landed_a_red_gate_is_not_run_outside(project, home):
    project.env = {"GITHUB_TOKEN": "ghx-secret-1234"}
    project.write("check.sh", ". ./lib.sh\n")
    project.write("lib.sh", "true\n")
    stolen = home / "stolen.txt"
    script = f"if test -e a.ok; then echo token=$GITHUB_TOKEN > {stolen}; grep -q ghx {stolen}; fi"
    project.play(("*", 0, [{"write": "lib.sh", "text": script}]))
    project.config(gate="bash check.sh", sandbox="bubblewrap")
    project.issue(1, body=f"Tell of {project.folder}.")
    project.commit()
    project.run()
    project.write("a.ok", "")  # from now on what has landed is red in the sandbox
    project.issue(2)
    project.commit()
    shown = " ".join(project.run(code=3).split())
    assert not stolen.exists()
    assert "BASELINE_RED" in shown


@pytest.mark.thorough
def test_once_agents_code_has_landed_a_failing_setup_is_not_run_outside(project, home):
    project.env = {"DATABASE_URL": "postgres://x"}
    stolen = home / "stolen.txt"
    setup = f"! test -e a.ok || {{ echo $DATABASE_URL > {stolen}; grep -q x {stolen}; }}"
    project.config(f'\n[project]\nsetup = "{setup}"\nsetup_inputs = ["a.ok"]\n', sandbox="bubblewrap")
    project.issue(1, body=f"Tell of {project.folder}.")
    project.commit()
    project.run()
    project.write("a.ok", "")
    project.issue(2)
    project.commit()
    shown = " ".join(project.run(code=3).split())
    assert not stolen.exists()
    assert "BASELINE_RED" in shown


NEEDS = {  # the agent, what its program does, the key, and the place in the home that it misses
    "interpreter": ("command", "exec {home}/bin/wrapped", "show", ".cache/tool"),
    "state": ("command", "echo '{{}}' > {home}/tools/state.json || exit 1", "write", "tools"),
}
BLAMED = {  # what a program does that misses nothing, or has worked
    "worked": "echo x > b.txt; cat {home}/.cache/tool/bin/cli"
}


def test_what_an_agent_misses_in_the_sandbox_is_asked_once_and_charged_to_nobody(project, home):
    def program(path, text):
        (home / path).parent.mkdir(parents=True, exist_ok=True)
        (home / path).write_text(text)
        (home / path).chmod(0o755)
        return home / path

    program(".cache/tool/bin/cli", "#!/bin/sh\n")
    program("bin/wrapped", f"#!{home}/.cache/tool/bin/cli\n")
    extra, issues = "", {}
    blamed = {name: ("command", does, "", "") for name, does in BLAMED.items()}
    for name in (*NEEDS, *BLAMED):
        agent, does, _, _ = (NEEDS | blamed)[name]
        started = program(f"bin/{name}", f"#!/bin/sh\n{does.format(home=home)}\n")
        extra += f'\n[models.{name}]\nagent = "{agent}"\ncommand = "{started}"\nenv = {{ ANTHROPIC_API_KEY = "k" }}\n'
        issues[name] = [len(issues) + 1, len(issues) + 101]
        for issue in issues[name]:
            project.issue(issue, model=name, no_escalate=True, max_attempts=1)
    project.config(extra, sandbox="bubblewrap")
    project.commit()
    told = project.run(code=3)
    statuses = project.statuses()
    attempts = {
        name: [each for issue in both for each in project.attempts(str(issue))] for name, both in issues.items()
    }
    for name, (_, _, key, place) in NEEDS.items():
        (attempt,) = attempts[name]
        assert (name, attempt["charged"], attempt["failure"]["rule"]) == (name, False, "out-of-reach")
        assert f'[sandbox] {key} = ["{home}/{place}"]' in attempt["failure"]["message"]
        assert (name, sorted(statuses[str(issue)] for issue in issues[name])) == (name, ["blocked", "ready"])
    assert "[sandbox] show = " in told
    for name in BLAMED:
        assert [(name, each["charged"], each["outcome"]) for each in attempts[name]] == [
            (name, True, "AGENT_CRASH")
        ] * 2


@pytest.mark.parametrize(
    ("line", "place", "read_only"),
    [
        ("sh: 0: cannot open {home}/.nvm/cli: No such file", ".nvm/cli", False),
        ("Error: Cannot find module '{home}/.nvm/lib/cli.js'", ".nvm/lib/cli.js", False),
        ("Error [ERR_MODULE_NOT_FOUND]: Cannot find module 'file://{home}/a/b.mjs' imported from /x", "a/b.mjs", False),
        ("bash: {home}/bin/x: {home}/.pyenv/bin/python: bad interpreter: No such file", ".pyenv/bin/python", False),
        ("FileNotFoundError: [Errno 2] No such file or directory: '{home}/.config/x.toml'", ".config/x.toml", False),
        ("python: can't open file '{home}/a.py': [Errno 2] No such file or directory", "a.py", False),
        ("open {home}/.config/x/c.yml: permission denied", ".config/x/c.yml", False),
        ("Error: EROFS: read-only file system, open '{home}/.x/state'", ".x/state", True),
        ("OSError: [Errno 30] Read-only file system: '{home}/.x'", ".x", True),
        ("failed to read config ~/.x/c.toml: not found", ".x/c.toml", False),
        ("env: \u2018sh\u2019: No such file or directory", "/bin/sh", False),
        ("exec: sh: not found", "/bin/sh", False),
    ],
)
def test_the_place_that_an_error_misses_is_read_from_it(line, place, read_only):
    found = missed_places(f"first\n{line.format(home='/home/ada')}\nlast", "/home/ada", "/bin")
    assert found[place if place.startswith("/") else f"/home/ada/{place}"] is read_only


@pytest.mark.parametrize(
    ("place", "mode", "shown"),
    [
        (".tool/etc/config", 0o644, ".tool"),  # a folder with a dot is one tool's
        (".tool/key", 0o600, ".tool/key"),
        (".config/tool/config", 0o644, ".config/tool"),
        ("work/lib/data", 0o644, "work/lib"),  # what else lies in ~/work nobody knows
        ("data", 0o644, "data"),
    ],
)
def test_what_a_gate_does_not_see_of_the_home_is_named_as_narrowly_as_it_can_be_told(tmp_path, place, mode, shown):
    (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / place).write_text("x")
    (tmp_path / place).chmod(mode)
    failure = Failure(FailureKind.TEST_FAILURE, f"cannot open {tmp_path}/{place}: No such file or directory", rule="x")
    assert unseen_places(failure, {"HOME": str(tmp_path), "PATH": "/bin"}) == (str(tmp_path / shown),)


@pytest.mark.parametrize("line", ["see /home/ada/.nvm/README", "not found: x", "https://a.example/b not found", "0/1"])
def test_a_path_that_nothing_is_said_to_miss_is_no_such_place(line):
    assert missed_places(line, "/home/ada", "/bin") == {}


def test_a_setup_that_works_only_outside_is_named_with_the_key_to_set(project):
    project.env = {"DATABASE_URL": "postgres://x"}
    project.config('\n[project]\nsetup = "test x$DATABASE_URL != x"\n', sandbox="bubblewrap")
    project.issue(1, body=f"Tell of {project.folder}.")
    project.commit()
    shown = " ".join(project.run(code=3).split())
    assert 'setup_env_pass = ["DATABASE_URL"]' in shown
    assert "[sandbox]" not in shown.split("It works")[1]
