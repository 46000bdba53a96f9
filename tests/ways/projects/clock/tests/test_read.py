import unittest

from clock.read import seconds


class TestRead(unittest.TestCase):
    def test_hours_and_minutes(self):
        self.assertEqual(seconds("1h30m"), 5400)

    def test_seconds(self):
        self.assertEqual(seconds("45s"), 45)

    def test_what_is_no_duration(self):
        for text in ("", "h", "1x", "1h 30m"):
            with self.subTest(text), self.assertRaises(ValueError):
                seconds(text)
