"""Ends a git process that answers questions through pipes, so that nothing of it is left."""

from typing import Any


def end(process: Any) -> None:
    """Close a process's input, wait for its end and close the rest; None, or one that is gone already, is fine."""
    if process is None:
        return
    try:
        process.stdin.close()
    except OSError:
        pass  # it died, and what was written last cannot be flushed
    process.proc.wait()
    process.stdout.close()
    process.stderr.close()
