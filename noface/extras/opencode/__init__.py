"""The agent opencode."""
