"""What noface can do without: each folder is reached by its names in `data/extras.py`, and the core imports none."""
