"""For the tests of shops that use this package."""


def check_total(found, wanted):
    """Fail if a total is not what it should be."""
    if found != wanted:
        raise AssertionError(f"{found} is not {wanted}")
