"""What of a person's home a box shows: toolchains and harmless settings, and of an ordinary developer's no secret."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from noface.agents.base import AGENTS
from noface.data import table
from noface.process.home_places import led_out, needed, programs_in
from noface.process.home_settings import holds_credentials, rebuilt
from noface.process.sandbox import Box, find_bubblewrap
from noface.process.sandbox_home import Home, home_rules

BUBBLEWRAP = find_bubblewrap(shutil.which("bwrap"))
SECRET = "N0tToBeSeen"

_LOGINS = {home["path"] for name in AGENTS for home in table("agents").get(name, {}).get("homes", ())}
_AGENTS = (
    ".amp", ".augment", ".cline", ".codeium", ".config/goose", ".continue", ".crush", ".cursor", ".factory", ".grok",
    ".kiro", ".qwen", ".roo", ".config/amp", ".config/github-copilot",
)  # fmt: skip
_FILES = (
    ".bashrc", ".bash_profile", ".profile", ".zshrc", ".zshenv", ".config/fish/config.fish", ".config/nushell/env.nu",
    ".xonshrc", ".tcshrc", ".envrc", ".env", ".bash_history", ".zsh_history", ".netrc", ".pypirc", ".git-credentials",
    ".aws/credentials", ".config/gcloud/application_default_credentials.json", ".azure/msal_token_cache.json",
    ".oci/key.pem", ".config/hcloud/cli.toml", ".linode-cli", ".config/linode-cli", ".config/doctl/config.yaml",
    ".cloudflared/cert.pem", ".config/ngrok/ngrok.yml", ".config/tailscale/state", ".wireguard/wg0.conf", ".zrok/env",
    ".fly/config.yml", ".config/rclone/rclone.conf", ".kube/config", ".docker/config.json", ".ssh/id_ed25519",
    ".gnupg/key", ".password-store/x.gpg", ".thunderbird/p/logins.json", ".mutt/muttrc", ".muttrc", ".mbsyncrc",
    "Maildir/cur/1", ".local/share/evolution/mail/x", ".mozilla/firefox/p/logins.json",
    "snap/firefox/common/.mozilla/firefox/p/cookies.sqlite", "snap/chromium/common/chromium/Default/Login Data",
    ".var/app/org.mozilla.firefox/.mozilla/firefox/p/key4.db", ".var/app/com.google.Chrome/config/Default/Cookies",
    ".config/google-chrome/Default/Cookies", ".local/share/keyrings/login.keyring", ".config/gh/hosts.yml",
    ".cargo/credentials.toml", ".gem/credentials", ".m2/settings.xml", ".gradle/gradle.properties", ".terraformrc",
    ".local/share/uv/credentials/x", ".cache/huggingface/token", "notes/passwords.txt", "customers/list.csv",
    ".config/pypoetry/auth.toml", ".config/containers/auth.json", ".databrickscfg", ".vault-token", ".sbt/.credentials",
    ".nvm/.env", ".nvm/versions/node/v20.1.0/etc/npmrc", ".pyenv/pip.conf", "miniconda3/.condarc", ".rustup/private",
    ".local/bin/deploy", "bin/release.sh", ".volta/.env.local",
)  # fmt: skip


@pytest.fixture
def home(tmp_path):
    """The home of an ordinary developer: every secret holds the same word."""
    home = tmp_path / "home"

    def write(path, text, mode=0o644):
        file = home / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(mode)

    for path in (*_FILES, *(f"{each}/auth.json" for each in _AGENTS)):
        write(path, f"export GITHUB_TOKEN={SECRET}\nauth_token = {SECRET}\n", 0o600 if "private" in path else 0o644)
    for path in _LOGINS:
        write(path if path.startswith(".env") or path.endswith((".json", ".yml")) else f"{path}/login", SECRET)
    for path in (".local/bin/deploy", "bin/release.sh"):
        write(path, f"#!/bin/sh\nAPI_TOKEN={SECRET}\n", 0o755)
    write(
        ".gitconfig",
        f'[user]\n\tname = Ada\n[github]\n\ttoken = {SECRET}\n[url "https://x:{SECRET}@h/"]\n\tinsteadOf = h\n',
    )
    write(".config/pip/pip.conf", f"[global]\nindex-url = https://ada:{SECRET}@pypi.example.org/simple\n")
    write(".npmrc", f"registry=https://npm.example.org\n//npm.example.org/:_authToken={SECRET}\n")
    write(".cargo/config.toml", f'[net]\nretry = 3\n[registry]\ntoken = "{SECRET}"\n')
    tool = "#!/bin/sh\necho tool\n"
    for path in (
        ".pyenv/shims/python", ".pyenv/versions/3.12.1/bin/python", ".nvm/versions/node/v20.1.0/bin/node",
        ".nvm/versions/node/v20.1.0/lib/node_modules/npm/cli.js", ".cargo/bin/cargo", ".rustup/toolchains/s/bin/rustc",
        ".sdkman/candidates/java/17/bin/java", ".volta/bin/node", ".local/share/pipx/venvs/ruff/bin/ruff",
        ".asdf/shims/ruby", "go/bin/gopls", ".local/share/mise/installs/go/1/bin/go", "opt/tool/bin/tool",
        "opt/tool/lib/x", "bin/mine", ".local/share/cli/versions/1/cli", "apps/one", "apps/other",
    ):  # fmt: skip
        write(path, tool, 0o755)
    write(".local/share/pipx/venvs/ruff/pyvenv.cfg", "home = x\n")
    (home / ".local/bin/ruff").symlink_to(home / ".local/share/pipx/venvs/ruff/bin/ruff")
    (home / ".local/bin/cli").symlink_to(home / ".local/share/cli/versions/1/cli")
    (home / ".local/bin/one").symlink_to(home / "apps/one")
    (home / ".sdkman/candidates/java/current").symlink_to("17")
    return home


def _path(home):
    folders = (
        ".pyenv/shims", ".nvm/versions/node/v20.1.0/bin", ".cargo/bin", ".local/bin", "bin", "opt/tool/bin",
        ".sdkman/candidates/java/current/bin",
    )  # fmt: skip
    return ":".join((*(f"{home}/{each}" for each in folders), "/usr/bin", "/bin"))


@pytest.mark.skipif(not BUBBLEWRAP.works, reason=f"no sandbox here: {BUBBLEWRAP.problem}")
def test_of_an_ordinary_developers_home_no_secret_can_be_read_and_every_toolchain_works(home, tmp_path):
    for name in ("fresh", "caches", "tmp", "work"):
        (tmp_path / name).mkdir()
    variables = {"HOME": str(home), "PATH": _path(home)}
    rules = home_rules(str(home), variables)
    box = Box(
        BUBBLEWRAP.program,
        (Home(str(home), str(tmp_path / "fresh"), str(tmp_path / "caches"), rules),),
        str(tmp_path / "tmp"),
    )
    script = f"""
    grep -rl {SECRET} ~ 2>/dev/null; cat ~/.gitconfig ~/.config/pip/pip.conf ~/.npmrc ~/.cargo/config.toml
    for each in python node cargo ruff cli one mine tool java; do test "$($each)" = tool || echo "no $each"; done"""
    line = box.command_line(("bash", "-c", script), "/")
    at = line.index("--json-status-fd")
    done = subprocess.run((*line[:at], *line[at + 2 :]), env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = "[user]\n\tname = Ada\n[global]\nindex-url = https://pypi.example.org/simple\nregistry=https://npm.example.org\n"
    assert done.stdout == f"{told}[net]\nretry = 3\n"


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        (".pyenv/versions/3.12.1/bin/python", True),
        ("opt/tool/lib/x", True),  # an installation: programs with libraries beside
        (".local/share/cli/versions/1/cli", True),  # a link in a folder of PATH leads there
        ("apps/one", True),
        ("apps/other", False),  # nobody knows what else lies beside a program
        ("go/bin/gopls", True),
        (".volta/bin/node", True),
        ("dev/py312/bin/python3", True),  # a program of an environment that was made of it
        ("dev/py313/bin/python3", True),  # nor is it missed by a link to such a program
        (".local/bin/deploy", False),  # a script that sets a token
        (".rustup/private", False),  # only the person may read it, unlike what lies beside it
        (".nvm/versions/node/v20.1.0/etc/npmrc", False),
        (".bashrc", False),
        ("repo/bin/x", False),  # PATH leads into a checkout
        ("named/lib/y", True),  # a variable names it
        (".held/y", False),  # nor is a tool's own folder known
        ("certs/ca.pem", True),
        ("certs/mine.pem", False),
        ("certs/npm.pem", True),  # settings that are shown name it
        ("caches/.cache/pip/x", True),
        (".cache/pip/x", False),  # a cache is noface's own
        ("cargo/credentials.toml", False),
        ("agents/run.py", True),
    ],
)
def test_what_leads_to_a_place_decides_whether_it_is_shown(home, path, shown):
    made = ("repo/bin/x", "named/lib/y", ".held/y", "agents/run.py", "cargo/env", "cargo/credentials.toml")
    caches, certificates = (".cache/pip/x", "caches/.cache/pip/x"), ("certs/ca.pem", "certs/mine.pem", "certs/npm.pem")
    for each in (*made, *caches, *certificates):
        (home / each).parent.mkdir(parents=True, exist_ok=True)
        (home / each).write_text("token = 'abcdefgh1'" if "credentials" in each else "x")
    (home / ".npmrc").write_text("cafile=~/certs/npm.pem\n")
    (home / "certs/mine.pem").chmod(0o600)
    for number in (312, 313):
        for each in (home / f"envs/{number}/bin/pytest", home / f"dev/py{number}/bin/python3"):
            each.parent.mkdir(parents=True)
            each.touch(0o755)
        (home / f"envs/{number}/pyvenv.cfg").touch()
        (home / f"envs/{number}/bin/python").symlink_to(home / f"dev/py{number}/bin/python3")
    (home / "bin/pt").symlink_to(home / "envs/313/bin/pytest")
    names = {"NAMED_HOME": "named", "HELD_HOME": ".held", "SSL_CERT_FILE": "certs/ca.pem", "MY_KEY": "certs/mine.pem"}
    names |= {"PIP_CACHE_DIR": ".cache/pip", "OTHER_CACHE": "caches/.cache/pip", "CARGO_HOME": "cargo"}
    variables = {name: f"{home}/{place}" for name, place in names.items()}
    variables["PATH"] = f"{_path(home)}:{home}/repo/bin"
    programs = programs_in("python ~/agents/run.py {prompt} ~/envs/312/bin/pytest", str(home), begins=True)
    readable, hidden = needed(str(home), variables, programs, (f"{home}/repo",))
    above = {path, *map(str, Path(path).parents)}
    assert (bool(above & set(readable)) and path not in hidden) is shown


def test_a_home_that_is_named_by_a_link_is_searched_all_the_same(home, tmp_path):
    (tmp_path / "named").symlink_to(home)
    readable, _ = needed(str(home), {"PATH": f"{tmp_path}/named/opt/tool/bin", "JAVA_HOME": f"{tmp_path}/named/apps"})
    assert {"opt/tool", "apps"} <= set(readable)


def test_where_most_is_only_the_persons_the_mode_tells_nothing(home):
    for name in "abc":
        (home / f"mine/lib/{name}").parent.mkdir(parents=True, exist_ok=True)
        (home / f"mine/lib/{name}").write_text("x")
        (home / f"mine/lib/{name}").chmod(0o600)
    _, hidden = needed(str(home), {"TOOL_HOME": f"{home}/mine"})
    assert not [path for path in hidden if path.startswith("mine/")]


def test_the_programs_of_a_persons_commands_are_found_and_files_that_they_read_are_not():
    home = str(Path("/bin").resolve().parent)
    assert programs_in(f"cd x && ~/bin/env true; $HOME/bin/sh -c 'cat {home}/lib/os-release'", home) == (
        f"{home}/bin/env",
        f"{home}/bin/sh",
    )
    assert programs_in("python ~/lib/os-release", home, begins=True) == (f"{home}/lib/os-release",)


def test_what_lies_elsewhere_behind_a_link_of_the_home_is_hidden_where_it_is_only_the_persons(home, tmp_path):
    for name in ("keys", "data"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "x").write_text("x")
        (home / f".{name}").symlink_to(tmp_path / name)
    (tmp_path / "keys/x").chmod(0o600)
    assert led_out(str(home)) == (str(tmp_path / "keys"),)


@pytest.mark.parametrize(
    ("path", "text", "kept"),
    [
        (".gitconfig", "[core]\n\tautocrlf = input\n\tsshCommand = ssh -i k\n", "[core]\n\tautocrlf = input\n"),
        (".gitconfig", "[http]\n\textraHeader = Authorization: x\n[init]\n\tdefaultBranch = main\n", "[init]\n\tdefaultBranch = main\n"),
        (".gitconfig", '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n', '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n'),
        (".npmrc", "@me:registry = https://u:p@h/npm/\n_password=x\nfund=false\n", "@me:registry = https://h/npm/\nfund=false\n"),
        (".npmrc", "registry=https://dl.example.org/a1b2c3d4e5f6g7h8i9/npm/\n", ""),
        (".config/pip/pip.conf", "[global]\nextra-index-url =\n    https://tok@h/x\n    https://g/y\n", "[global]\nextra-index-url =\n    https://h/x\n    https://g/y\n"),
        (".yarnrc.yml", "nodeLinker: node-modules\nnpmScopes:\n  me:\n    npmAuthToken: x\n", "nodeLinker: node-modules\n"),
        (".cargo/config.toml", '[build]\nrustflags = [\n  "-C",\n]\n[registries.me]\nindex = "sparse+https://u:p@h/"\ntoken = "x"\n', '[build]\nrustflags = [\n  "-C",\n]\n[registries.me]\nindex = "sparse+https://h/"\n'),
        (".config/uv/uv.toml", 'offline = false\n[[index]]\nurl = "https://h/s"\npassword = "x"\n', 'offline = false\n[[index]]\nurl = "https://h/s"\n'),
        (".config/uv/uv.toml", 'extra-index-url = ["https://h/x",\n  "https://h/a1b2c3d4e5f6g7h8i9"]\noffline = true\n', ""),
        (".npmrc", None, ""),
    ],
)  # fmt: skip
def test_of_settings_the_harmless_keys_stay(tmp_path, path, text, kept):
    if text is not None:
        (tmp_path / "settings").write_text(text)
    assert rebuilt(str(tmp_path / "settings"), path).decode() == kept


def test_a_file_that_cannot_be_read_holds_what_nobody_knows(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    assert holds_credentials(str(tmp_path / "pipe"))
    (tmp_path / "plain").write_text("name = x\n")
    assert not holds_credentials(str(tmp_path / "plain"))
