"""Which file of a tree uses which, as the texts say: imports of the common languages, names of files in any. Pure.

Who uses a file tells more than its name: what only judges use may be main's, and what the product uses is the product.
"""

import ast
import posixpath
import re
from functools import lru_cache

from noface.integrity.form import python_tree

_SCRIPT = re.compile(r"\.[cm]?[jt]sx?$")
_SPECIFIER = re.compile(r"""(?:\bfrom|\bimport|\brequire|\bmock)\s*+\(?\s*+["'`]([^"'`\n]{1,300})["'`]""")
_FOR_TESTS = re.compile(
    r"#\[cfg\((?:test|all\(test)[^\[\]#\n]{0,99}\]\s*+(?:#\[[^\[\]#\n]{0,99}\]\s*+){0,9}(?:pub\s+)?mod\s+\w+\s*;"
)
"""What a crate holds for its tests only."""
_FOLDERS_OF_MODULES = ("", "src", "lib", "python")


def word_of(path: str) -> str:
    if path.endswith(".go"):
        return posixpath.basename(posixpath.dirname(path)) or "package"
    stem = posixpath.basename(path).partition(".")[0]
    return posixpath.basename(posixpath.dirname(path)) or stem if _is_folder_itself(path) else stem


def _is_folder_itself(path: str) -> bool:
    return posixpath.basename(path).partition(".")[0] in ("index", "__init__", "__main__", "mod", "lib")


def uses_code(path: str, text: str, target: str, *, surely: bool = False) -> bool:
    """True if the code at `path` uses that at `target`: by a name if need be, `surely` by the whole file or folder."""
    if path == target or target.endswith("_test.go"):
        return False
    if path.endswith((".py", ".pyi")) and target.endswith((".py", ".pyi")):
        return any(_is_module(path, name, target) for name in _imported(text))
    if _SCRIPT.search(path) and _SCRIPT.search(target):
        return any(_is_specified(path, each, target) for each in _SPECIFIER.findall(text))
    if path.endswith(".go") and target.endswith(".go"):
        folder = posixpath.dirname(target)
        beside = posixpath.dirname(path) == folder and not surely
        return beside or (folder != "" and re.search(rf'/{re.escape(folder)}"', text) is not None)
    if posixpath.splitext(path)[1] == posixpath.splitext(target)[1]:
        word, text = re.escape(word_of(target)), _FOR_TESTS.sub("", text) if surely else text
        named = rf"(?<!\w){word}(?!\w)" if not surely else _within_its_folder(path, target, word)
        return re.search(named, text, re.MULTILINE) is not None or (surely and names_file(text, target))
    return names_file(text, target)


def _within_its_folder(path: str, target: str, word: str) -> str:
    place = posixpath.dirname(posixpath.dirname(target) if _is_folder_itself(target) else target)
    own = posixpath.dirname(path) if _is_folder_itself(path) else posixpath.splitext(path)[0]
    is_module = target.endswith(".rs") and place in (posixpath.dirname(path), own)
    module = rf"^\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+{word}\s*;"
    folder = rf"(?<!\w){re.escape(posixpath.basename(place))}(?:[./\\]|::){word}(?!\w)"
    return module if is_module else folder if posixpath.basename(place) else "(?!)"


def names_file(text: str, target: str) -> bool:
    return re.search(rf"(?<![\w.-]){re.escape(posixpath.basename(target))}(?![\w-]|\.\w)", text) is not None


def names_module(text: str, target: str) -> bool:
    """True if settings name the module at `target` with the packages that it lies in, or its file."""
    dotted = re.escape(re.sub(r"\.\w+$", "", target).removesuffix("/__init__").replace("/", "."))
    return names_file(text, target) or re.search(rf"(?<![\w./-]){dotted}(?![\w/-]|\.\w)", text) is not None


def stem_of(path: str) -> str:
    """Return the path by which code of many languages means a file: without what follows its name's first dot."""
    folder, name = posixpath.split(path)
    return folder if _is_folder_itself(path) else posixpath.join(folder, name.partition(".")[0] or name)


def names_folder(text: str, target: str) -> bool:
    folders = [re.escape(part) for part in posixpath.dirname(target).split("/") if part]
    if not folders:
        return False
    one = "|".join(folders)
    return re.search(rf"""["'`/](?:{one})(?=["'`/])|(?<![\w.-])(?:{one})/""", text) is not None


@lru_cache(maxsize=1024)
def _imported(text: str) -> frozenset[str]:
    """Return the dotted names that Python code imports; of `from a import b` both "a" and "a.b"."""
    names, tree = set[str](), python_tree(text)
    for node in ast.walk(tree) if tree is not None else ():
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            names |= {module, *(f"{module}{'' if module.endswith('.') else '.'}{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and "." in node.value[:200]:
            names.add(node.value[:200])  # pytest_plugins, import_module, a table of backends
    return frozenset(names)


def _is_module(path: str, name: str, target: str) -> bool:
    own = target.rpartition(".")[0].removesuffix("/__init__").removesuffix("/__main__")
    relative = len(name) - len(name.lstrip("."))
    parts = [part for part in name.split(".") if part]
    if relative:
        folder = posixpath.normpath(posixpath.join(posixpath.dirname(path), *[".."] * (relative - 1)))
        return own == posixpath.normpath(posixpath.join(folder, *parts))
    for count in range(len(parts), 0, -1):  # `import a.b.c` runs a/__init__.py and a/b/__init__.py as well
        if count < len(parts) and not target.endswith("__init__.py"):
            return False
        module = "/".join(parts[:count])
        start = own.removesuffix(module).rstrip("/") if own.endswith(module) else None
        if start is not None and (start in (*_FOLDERS_OF_MODULES, posixpath.dirname(path)) or count > 1):
            return own == module or own.endswith(f"/{module}")
    return False


def _is_specified(path: str, specifier: str, target: str) -> bool:
    """True if a script's specifier leads to `target`; one that an alias begins counts by what follows."""
    stems = {_SCRIPT.sub("", target)}
    stems |= {posixpath.dirname(target)} if _is_folder_itself(target) else set()
    wanted = _SCRIPT.sub("", specifier.rstrip("/"))
    if specifier.startswith("."):
        return posixpath.normpath(posixpath.join(posixpath.dirname(path), wanted)) in stems
    tail = wanted.partition("/")[2]
    return bool(tail) and any(stem == tail or stem.endswith(f"/{tail}") for stem in stems)
