"""The agent mini (mini-swe-agent)."""
