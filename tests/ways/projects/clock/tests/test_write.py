import unittest

from clock.write import words


class TestWrite(unittest.TestCase):
    def test_zero(self):
        self.assertEqual(words(0), "0 s")

    def test_all_units(self):
        self.assertEqual(words(3661), "1 h 1 min 1 s")

    def test_an_hour(self):
        self.assertEqual(words(3600), "1 h")
