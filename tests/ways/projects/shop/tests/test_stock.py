from shop.stock import in_stock, label


def test_labels():
    assert label("tea") == "Green tea"
    assert label("cup") is None


def test_what_is_sold_out_is_not_in_stock():
    assert in_stock("tea")
    assert not in_stock("mug")
