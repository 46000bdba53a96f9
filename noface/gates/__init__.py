"""Runs gates and reads their reports."""
