"""The host's side of an attempt: functions that tasks of dask.distributed name."""


def end_all() -> None:
    """End the attempts that run on this host."""
