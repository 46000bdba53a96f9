"""A benchmark of recovery: nights as they happen, played by noface and by two simple loops with the same agents."""
