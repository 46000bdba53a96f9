"""Other machines that carry attempts out: how home reaches them, and what runs there."""
