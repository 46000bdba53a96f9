"""The scripts of GitLab's jobs, as far as they run for any change."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from noface.detection.files import table, yaml_of
from noface.detection.steps import NOISE, CiStep

_NO_JOBS = frozenset(
    (
        "default",
        "include",
        "stages",
        "variables",
        "workflow",
        "image",
        "services",
        "cache",
        "before_script",
        "after_script",
        "pages",
    )
)


def gitlab_steps(root: Path) -> Iterator[CiStep]:
    """Yield the script of each job."""
    document = yaml_of(root / ".gitlab-ci.yml")
    for name, job in document.items():
        if not isinstance(job, dict) or str(name).startswith(".") or name in _NO_JOBS:
            continue
        above = document.get(job["extends"]) if isinstance(job.get("extends"), str) else None
        whole = {**(above if isinstance(above, dict) else {}), **job}
        only = str(whole.get("only") or "")
        if (
            whole.get("allow_failure") is True
            or whole.get("when") in {"manual", "delayed"}
            or only in {"tags", "['tags']"}
        ):
            continue
        variables = {**table(document, "variables"), **table(whole, "variables")}
        env = tuple(
            (key, str(value))
            for key, value in variables.items()
            if not isinstance(value, dict) and "$" not in str(value) and not NOISE.match(key)
        )
        scripts = (whole.get(key, document.get(key)) for key in ("before_script", "script"))
        lines = [line for script in scripts for line in _lines(script)]
        yield CiStep("\n".join(lines), f".gitlab-ci.yml, job {name}", env=env)


def _lines(script: object) -> Iterable[str]:
    items = [script] if isinstance(script, str) else script if isinstance(script, list) else []
    return [item for item in items if isinstance(item, str)]
