from shop.price import total


def test_prices_add_up():
    assert total([250, 120]) == 370


def test_a_voucher_takes_its_part():
    assert total([1000], "SPRING") == 900
