"""Writing durations."""


def words(seconds: int) -> str:
    """Write seconds as "1 h 30 min"."""
    hours, rest = divmod(seconds, 3600)
    minutes, left = divmod(rest, 60)
    parts = [f"{number} {unit}" for number, unit in ((hours, "h"), (minutes, "min"), (left, "s")) if number]
    return " ".join(parts) or "0 s"
