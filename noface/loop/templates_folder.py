"""Reads the prompt templates: noface's own, and those of `[prompts] dir` that take their place."""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import Path

from noface.core.prompt_check import Fault, faults, suggestion, variables
from noface.core.prompt_situation import SUFFIX
from noface.core.prompts import BUILT_IN
from noface.errors import ConfigError

TEMPLATE_BYTES_MAX = 100_000
_FILES_MAX = 1_000


def built_in() -> dict[str, str]:
    """Return noface's own templates, by file name."""
    folder = files("noface.loop").joinpath("templates")
    return {entry.name: entry.read_text("utf-8") for entry in folder.iterdir() if entry.name.endswith(SUFFIX)}


def load_templates(user_dir: Path | None) -> Mapping[str, str]:
    """Return the templates by file name; a file of `user_dir` takes the place of noface's own of that name.

    noface's own are also there as "noface/NAME", so that a user's template can extend the one it replaces. Raises
    ConfigError where the folder cannot be read, a file's name is unknown, or a template is faulty.
    """
    own = built_in()
    kept = {f"{BUILT_IN}{name}": text for name, text in own.items()}
    if user_dir is None:
        return own | kept
    templates = own | kept | _read_folder(user_dir, tuple(sorted(own)))
    check_templates(templates, str(user_dir))
    return templates


def check_templates(templates: Mapping[str, str], folder: str = "") -> None:
    """Try every template on sample data; raise ConfigError that names each fault, its file and line, and what is there.

    `folder` is what stands before the file names in the message.
    """
    found = faults(templates)
    if not found:
        return
    places = "\n".join(f"  {_placed(fault, folder)}: {fault.message}" for fault in found)
    known: dict[str, str] = {}
    for fault in found:
        known |= variables(fault.template)
    lines = "".join(f"\n  {name}: {meaning}" for name, meaning in known.items())
    raise ConfigError(
        f"the prompt templates have {len(found)} fault{'s' if len(found) > 1 else ''}:\n{places}",
        f"a template can use these variables:{lines}" if lines else "compare it with noface's own",
    )


def _read_folder(folder: Path, known: tuple[str, ...]) -> dict[str, str]:
    try:
        entries = sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))[:_FILES_MAX]
    except OSError as error:
        problem = error.strerror or "it cannot be read"
        raise ConfigError(
            f"[prompts] dir: {folder}: {problem}", "make the folder, or take the key out of noface.toml"
        ) from error
    meant = [entry for entry in entries if _is_template(entry.name, known)]
    unknown = [entry.name for entry in meant if entry.name not in known]
    if unknown:
        lines = "\n".join(f'  "{name}"{suggestion(name, known)}' for name in unknown)
        raise ConfigError(
            f"{folder} holds templates that noface never uses:\n{lines}", f"the names are: {', '.join(known)}"
        )
    return {entry.name: _read_template(entry) for entry in meant}


def _is_template(name: str, known: tuple[str, ...]) -> bool:
    """Tell whether a file is meant as a template; a README beside them is not."""
    return ".j2" in name or any(name == one.removesuffix(".j2") for one in known)


def _read_template(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(TEMPLATE_BYTES_MAX + 1)
        if len(content) <= TEMPLATE_BYTES_MAX:
            return content.decode("utf-8").replace("\r\n", "\n")
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}", "a template is a text file that noface can read") from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: byte {error.start + 1} is not UTF-8", "save it as UTF-8") from error
    raise ConfigError(f"{path} is longer than {TEMPLATE_BYTES_MAX} bytes", "templates are short texts")


def _placed(fault: Fault, folder: str) -> str:
    own = fault.template.startswith(BUILT_IN)
    name = f"{folder}/{fault.template}" if folder and not own else fault.template
    return name if fault.line is None else f"{name}:{fault.line}"
