"""How honest commits of public projects fare with noface."""
