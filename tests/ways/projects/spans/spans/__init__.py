"""Spans of pages such as 1-4,7."""
