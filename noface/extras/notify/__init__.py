"""Tells people what happens in a run, and hears what they answer."""
