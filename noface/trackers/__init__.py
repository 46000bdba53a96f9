"""Where issues come from."""
