"""The run: plans, dispatches attempts, judges and lands them, and recovers from a crash."""
