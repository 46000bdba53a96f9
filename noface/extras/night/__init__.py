"""`noface night`: when a run begins by itself."""
