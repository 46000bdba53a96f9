"""The agent gemini."""
