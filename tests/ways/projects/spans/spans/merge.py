"""Merging spans."""


def merge(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Make one of spans that overlap, lowest first."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(spans):
        if merged and low <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return merged
