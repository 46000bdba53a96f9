"""The user's repository: where it is, what noface refuses, and what the person's own git reads and runs there."""

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from noface.errors import UsageError
from noface.git.command import Git, Identity
from noface.git.locate import nothing_around
from noface.git.ref_files import references
from noface.process.files import read_regular


@dataclass(frozen=True, slots=True)
class Repository:
    """A user's repository. Paths are absolute; `main` is a full ref name.

    `hooks` is the folder of the person's git hooks if it lies in the working tree. `base` is the ref that work starts
    from, "" for main itself. `origin` is the address of that remote, without credentials. `signs`: their git signs
    commits by itself.
    """

    root: Path
    common_dir: Path
    main: str
    identity: Identity
    object_format: str = "sha1"
    shallow: bool = False
    excludes: str = ""
    hooks: str = ""
    any_case: bool = False
    base: str = ""
    origin: str = ""
    signs: bool = False

    @property
    def objects(self) -> Path:
        return self.common_dir / "objects"

    @property
    def own_objects(self) -> Path:
        return self.state_dir / "objects"

    @property
    def object_variables(self) -> dict[str, str]:
        if not self.own_objects.is_dir():
            return {"GIT_OBJECT_DIRECTORY": str(self.objects)}
        # A colon would end the path; in quotes it does not.
        other = '"' + str(self.objects).replace("\\", "\\\\").replace('"', '\\"') + '"'
        return {"GIT_OBJECT_DIRECTORY": str(self.own_objects), "GIT_ALTERNATE_OBJECT_DIRECTORIES": other}

    @property
    def null_id(self) -> str:
        return "0" * (40 if self.object_format == "sha1" else 64)

    @property
    def main_name(self) -> str:
        return self.main.removeprefix("refs/heads/")

    @property
    def state_dir(self) -> Path:
        """Where noface keeps its state: one per repository, however many worktrees it has."""
        return self.common_dir / "noface"

    @property
    def private_git_dirs(self) -> Path:
        """The folder of noface's own git dirs, by name; called "hubs" since the first version."""
        return self.state_dir / "hubs"

    def git(self) -> Git:
        """Return a sealed git on the repository itself, which writes objects into noface's store."""
        return Git.sealed(str(self.common_dir), identity=self.identity, extra=self.object_variables)

    def shared_git(self) -> Git:
        """Return a sealed git that knows the person's objects alone: it sets no ref to what they have not."""
        return Git.sealed(str(self.common_dir), identity=self.identity)

    def references(self, *prefixes: str) -> dict[str, str]:
        refs = references(self.common_dir, *prefixes)
        if refs is not None:
            return refs
        text = self.git().ask("for-each-ref", "--format=%(refname) %(objectname)", *prefixes)
        return dict(line.split(" ", 1) for line in text.splitlines())


def discover(start: Path, main: str = "") -> Repository:
    """Find the repository around `start`, and check that noface can work in it. Raises UsageError if not."""
    check_version(Git.user("/"))
    git = Git.user(str(start))
    output = git.run(
        "rev-parse",
        "--path-format=absolute",
        "--is-bare-repository",
        "--show-object-format",
        "--is-shallow-repository",
        "--git-common-dir",
    )
    if output.code != 0:
        raise no_repository(start, output.stderr)
    bare, object_format, shallow, common = output.text.split("\n", 3)
    if bare == "true":
        raise UsageError(
            f"{start} is a bare repository: there are no files for issues and configuration to stand in.",
            "Clone it (`git clone <this> work`) and run noface in the clone.",
        )
    top = git.run("rev-parse", "--path-format=absolute", "--show-toplevel")
    if top.code != 0:
        raise UsageError(f"{start} is inside the .git folder.", "Change to the repository's working tree.")
    root = Path(top.text)
    settings = settings_of(git)
    if any(_PROMISED.fullmatch(key) and value != "false" for key, value in settings.items()):
        raise UsageError(
            "This is a partial clone: objects are missing, and noface fetches none one by one.",
            "Make a full clone: `git clone --no-filter <url>`.",
        )
    check_refs(Path(common))
    return Repository(
        root=root,
        common_dir=Path(common),
        main=main_ref(git, main, Path(common)),
        identity=identity(settings),
        object_format=object_format,
        shallow=shallow == "true",
        excludes=excludes(settings, root, Path(common)),
        hooks=hooks_in_tree(settings, root),
        any_case=(Path(common) / "head").exists(),  # git always has a HEAD
        origin=without_login(settings.get("remote.origin.url", "")),
        signs=settings.get("commit.gpgsign", "").lower() in ("true", "yes", "on", "1"),
    )


def settings_of(git: Git) -> dict[str, str]:
    """Return the settings of git's files, the last of each; section and name are in lower case."""
    return {key: value for _, key, value in _settings(git)}


def _settings(git: Git) -> Iterator[tuple[str, str, str]]:
    fields = git.run("config", "--list", "--show-origin", "-z").text.split("\0")
    for origin, setting in zip(fields[::2], fields[1::2], strict=False):
        key, _, value = setting.partition("\n")
        if origin.startswith("file:"):
            yield origin.removeprefix("file:"), key, value


def without_login(address: str) -> str:
    """Return the address of a remote without password, token and query; whom ssh logs in as is no secret, and stays."""
    scheme, mark, rest = address.partition("://")
    place, slash, path = rest.partition("/")
    login, _, host = place.rpartition("@")
    user = login.partition(":")[0] if scheme.lower().endswith("ssh") else ""
    if scheme.lower().endswith(("http", "https")):
        path = re.split(r"[?#]", path)[0]
    return f"{scheme}{mark}{f'{user}@' if user else ''}{host}{slash}{path}" if mark else address


GIT_VERSION_MIN = (2, 38)
_PROMISED = re.compile(r"extensions\.partialclone|remote\..*\.promisor", re.DOTALL)
_SCRATCH = "refs/heads/noface"
_INSTALL = "Install git 2.38 or newer and put it on PATH."


def check_version(git: Git) -> None:
    """Raise UsageError if git is missing or older than `merge-tree --write-tree`."""
    try:
        version = git.run("version")
    except Exception as error:  # GitPython has no class for it: its import fails in several ways without a git
        raise UsageError("git was not found.", _INSTALL) from error
    if version.code != 0:
        raise UsageError("git was not found.", _INSTALL)
    match = re.search(r"(\d+)\.(\d+)", version.text)
    if match is None or (int(match[1]), int(match[2])) < GIT_VERSION_MIN:
        raise UsageError(
            f"{version.text} is too old: noface needs 2.38 (`git merge-tree --write-tree`).", "Install a newer git."
        )


def no_repository(start: Path, stderr: str) -> UsageError:
    """Return the error for a folder in which git finds no repository it would work with."""
    if "dubious ownership" in stderr:
        return UsageError(
            f"git refuses {start}: it belongs to another user.",
            f"If you trust it: `git config --global --add safe.directory {start}`.",
        )
    if "unknown repository extension" in stderr or "repository version" in stderr:
        return UsageError(f"This git cannot read the repository: {stderr.strip()}", "Install a newer git.")
    return nothing_around(start)


def check_refs(common: Path) -> None:
    """Raise UsageError if something among the refs, or a link there, is no file: git would wait for it for ever."""
    folders = [str(common / "refs")]
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif not entry.is_file() and not entry.is_dir() and os.path.exists(entry.path):  # noqa: PTH110
                    raise UsageError(
                        f"{entry.path} is not a regular file; git would wait for it forever.",
                        "Remove it, then try again.",
                    )


def main_ref(git: Git, wanted: str, common: Path) -> str:
    """Return the full ref of main: the branch `wanted`, or the one checked out. Raises UsageError if it is none."""
    ref = f"refs/heads/{wanted}" if wanted else git.run("symbolic-ref", "--quiet", "HEAD").text
    if not ref:
        raise UsageError(
            "HEAD is detached, so noface cannot tell which branch is main.",
            "Name it: `noface config set project.main NAME`.",
        )
    if ref.startswith(f"{_SCRATCH}/"):
        raise UsageError(
            f"{ref.removeprefix('refs/heads/')} is one of noface's scratch branches.",
            "Check out your main branch, or name it: `noface config set project.main NAME`.",
        )
    if _is_there(git, common, _SCRATCH):
        raise UsageError(
            "There is a branch called noface, so git cannot make the scratch branches noface/<issue>.",
            "Rename it: `git branch -m noface NEW-NAME`.",
        )
    if _is_there(git, common, ref):
        return ref
    if not wanted:
        raise UsageError("The repository has no commit yet.", "Commit something first: `git commit`.")
    heads = git.run("for-each-ref", "--format=%(refname:short)", "refs/heads").text.split()
    branches = ", ".join(h for h in heads if not h.startswith("noface/"))
    raise UsageError(
        f"[project] main = {wanted!r}, but there is no such branch with a commit.",
        f"Branches here: {branches or 'none'}. Set it with `noface config set project.main NAME`.",
    )


def _is_there(git: Git, common: Path, ref: str) -> bool:
    refs = references(common, ref)
    return git.run("show-ref", "--verify", "--quiet", ref).code == 0 if refs is None else ref in refs


def identity(settings: Mapping[str, str]) -> Identity:
    """Return who commits are by: the person, or noface if git would not accept what they are called."""
    name, email = settings.get("user.name", ""), settings.get("user.email", "")
    return Identity(name, email) if re.search(r"\w", name) and email else Identity()


def excludes(settings: Mapping[str, str], root: Path, common: Path) -> str:
    """Return the user's own ignore rules that stand outside the tree; the last that matches decides."""
    persons = Path(settings.get("core.excludesfile") or "~/.config/git/ignore").expanduser()
    files = (Path(os.path.realpath(root / file)) for file in (persons, common / "info" / "exclude"))
    return "\n".join(os.fsdecode(read_regular(file, _EXCLUDES_BYTES_MAX) or b"") for file in files)


def hooks_in_tree(settings: Mapping[str, str], root: Path) -> str:
    """Return the folder of the person's hooks, relative to `root`; "" if they lie outside the working tree."""
    configured = settings.get("core.hookspath", "")
    if not configured:
        return ""
    folder = os.path.relpath(os.path.normpath(root / Path(configured).expanduser()), root)
    return "" if folder.startswith("..") or folder == "." or folder.split("/")[0] == ".git" else folder


_NO_COMMANDS = ("branch.", "color.", "http.", "remote.", "submodule.", "url.", "user.")
_SCRIPT_BYTES_MAX = 64 * 1024
_HOOKS_MAX = 100
_EXCLUDES_BYTES_MAX = 1 << 24


def person_names(repository: Repository) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return paths in the working tree that a person's git reads or runs, and texts whose words may be such paths.

    What lands there runs in the person's next git command, and in noface's landing, which uses their configuration.
    """
    root, paths, texts = repository.root, [], []
    hooks = repository.common_dir / "hooks"
    for origin, key, value in _settings(Git.user(str(root))):
        file = root / origin
        paths.append(file)
        if key == "core.hookspath":
            hooks = root / Path(value).expanduser()
        elif key.startswith(("include.", "includeif.")):
            paths.append(file.parent / Path(value).expanduser())
        elif not key.startswith(_NO_COMMANDS):
            texts.append(value.replace(f"{root}/", ""))
    paths.append(hooks)
    scripts: list[Path] = []
    with suppress(OSError):
        scripts = sorted(hook for hook in hooks.iterdir() if hook.suffix != ".sample")[:_HOOKS_MAX]
    for hook in scripts:
        paths += [hook] if hook.is_symlink() else []
        script = (read_regular(Path(os.path.realpath(hook)), _SCRIPT_BYTES_MAX) or b"").decode("utf-8", "replace")
        texts.append(script.replace(f"{root}/", ""))
    inner = (_inner(root, path, resolved=resolved) for path in paths for resolved in (False, True))
    return (tuple(sorted({path for path in inner if path})), tuple(texts))


def _inner(root: Path, path: Path, *, resolved: bool) -> str:
    """Return a path relative to the working tree; "" if it lies elsewhere, or in the git dir."""
    try:
        full = os.path.realpath(path) if resolved else os.path.normpath(path)
        name = os.path.relpath(full, os.path.realpath(root) if resolved else root)
    except (OSError, ValueError):
        return ""
    return "" if name == "." or name.split("/")[0] in ("..", ".git") else name
