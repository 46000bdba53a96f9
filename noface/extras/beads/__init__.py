"""The tracker beads."""
