import unittest

from vat import with_tax


class WithTax(unittest.TestCase):
    def test_each_kind_has_its_rate(self):
        self.assertEqual(with_tax(1000, "books"), 1070)
        self.assertEqual(with_tax(1000, "tools"), 1190)

    def test_fractions_below_a_half_are_dropped(self):
        self.assertEqual(with_tax(101, "books"), 108)


if __name__ == "__main__":
    unittest.main()
