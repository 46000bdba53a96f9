"""The agent aider."""
