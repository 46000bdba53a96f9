"""What models read, and how their answers are read. Pure."""
