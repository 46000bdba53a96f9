import unittest

from vat import with_tax


class Rounding(unittest.TestCase):
    def test_a_half_is_rounded_up(self):
        self.assertEqual(with_tax(50, "tools"), 60)  # 59.5


if __name__ == "__main__":
    unittest.main()
