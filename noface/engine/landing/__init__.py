"""How proven work gets to main: the queue, the stacks it proves, the commits that land, pushes."""
