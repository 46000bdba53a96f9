"""Can a green result be trusted? What a change did to its own judges, and what noface's state must agree on. Pure."""
