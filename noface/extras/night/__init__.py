"""`noface tools night`: when a run begins by itself."""
