"""One attempt, from its order to its verdict: the worker, what it left, the gates, main's judges. It knows no run."""
