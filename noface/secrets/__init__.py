"""What a secret looks like, and how text is masked; which variables reach agents and gates. Pure."""
