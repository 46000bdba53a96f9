import pytest

from parcel.rates import postage_cents


@pytest.mark.parametrize(("grams", "cents"), [(20, 100), (51, 180), (1999, 320)])
def test_each_step_has_its_price(grams, cents):
    assert postage_cents(grams) == cents


def test_too_heavy_is_refused():
    with pytest.raises(ValueError, match="2001 g"):
        postage_cents(2001)
