import pytest

from parcel.rates import postage_cents


@pytest.mark.parametrize(("grams", "cents"), [(50, 100), (500, 180), (2000, 320)])
def test_a_limit_belongs_to_its_step(grams, cents):
    assert postage_cents(grams) == cents
