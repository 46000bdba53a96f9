"""`noface board`: what the looking verbs tell, as live pages on loopback, and the deciding verbs as their forms."""
