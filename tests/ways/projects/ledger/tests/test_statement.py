from golden_file import check

from ledger import statement


def test_march():
    check("march.txt", statement([("Rent", "-700"), ("Wages", "2100.50")]))


def test_an_empty_statement_has_a_sum():
    assert statement([]) == "Sum               0.00\n"
