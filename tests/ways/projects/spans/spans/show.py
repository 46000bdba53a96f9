"""Writing spans."""


def show(spans: list[tuple[int, int]]) -> str:
    """Write spans as they are read."""
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in spans)
