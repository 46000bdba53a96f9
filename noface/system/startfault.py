"""Says in words why a program could not be started, from what its supervisor reported."""

import errno
import os
import resource
import shutil
from collections.abc import Sequence
from typing import Any

ONE_ARGUMENT_BYTES_MAX = 128 * 1024
"""Linux's limit for a single argument or variable (MAX_ARG_STRLEN), which no setting raises."""


def explain(what: dict[str, Any], argv: Sequence[str], env: dict[str, str]) -> str:
    """One sentence for a person, with what to do about it; `what` is a supervisor's report (`StartError.what`)."""
    name, number = what["name"], what["errno"]
    match what["step"]:
        case "exec":
            return _explain_exec(name, number, what["text"], argv, env)
        case "cwd":
            return f"cannot enter the working directory {name}: {_reason(what)}"
        case stream:
            return f"cannot open {name} as {stream}: {_reason(what)}"


def too_long(argv: Sequence[str], env: dict[str, str]) -> str:
    """Why E2BIG: how long arguments and environment are, and what the system takes."""
    arguments = [os.fsencode(argument) for argument in argv]
    variables = {key: len(os.fsencode(key)) + len(os.fsencode(value)) + 2 for key, value in env.items()}
    total = sum(len(argument) + 1 for argument in arguments) + sum(variables.values())
    problem = f"arguments and environment of {argv[0][:200]} are too long (E2BIG): {total} bytes together"
    longest = max(range(len(arguments)), key=lambda index: len(arguments[index]))
    if len(arguments[longest]) >= ONE_ARGUMENT_BYTES_MAX:
        problem += f", {len(arguments[longest])} of them in argument {longest}"
    for key, size in variables.items():
        if size > ONE_ARGUMENT_BYTES_MAX:
            problem += f", {size} of them in the variable {key[:200]}"
    soft, _ = resource.getrlimit(resource.RLIMIT_STACK)
    allowed = "" if soft == resource.RLIM_INFINITY else f" and {soft // 4} together"
    return f"{problem}; the system takes {ONE_ARGUMENT_BYTES_MAX} for one{allowed}. Pass long texts by file or stdin"


def _explain_exec(name: str, number: int | None, text: str, argv: Sequence[str], env: dict[str, str]) -> str:
    path = env.get("PATH", os.defpath)
    found = name if "/" in name else shutil.which(name, path=path)
    program = found or name
    match number:
        case errno.E2BIG:
            problem = too_long(argv, env)
        case errno.ENOENT if found is not None and os.path.lexists(found):
            problem = f"cannot run {found}: the interpreter named in its first line, or a link's target, does not exist"
        case errno.ENOENT | errno.ENOTDIR:
            where = "no such file" if "/" in name else f"not in any folder of PATH={path}"
            problem = f"program not found: {name} ({where})"
        case errno.EACCES:
            problem = f"program not executable: {program} (permission denied; `chmod +x` makes a script executable)"
        case errno.ENOEXEC:
            problem = f"cannot run {program}: it is neither a program nor a script with a #! line"
        case errno.EAGAIN | errno.ENOMEM:
            problem = f"cannot run {program}: {text}; the machine is out of processes or memory"
        case _:
            problem = f"cannot run {program}: {text}"
    return problem


def _reason(what: dict[str, Any]) -> str:
    return str(what["text"]) if what["errno"] is None else os.strerror(what["errno"])
