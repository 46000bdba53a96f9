"""Runs programs under supervision, contains them, masks their logs, and locks the repository."""
