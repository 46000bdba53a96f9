"""What a run does with other machines: a story for each, which the loop takes as a list."""
