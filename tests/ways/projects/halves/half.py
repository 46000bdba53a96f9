"""Halves.

>>> half(6)
3
"""


def half(number):
    """Halve a number.

    >>> half(8)
    4
    """
    return number // 2
