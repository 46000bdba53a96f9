"""Why did it fail? Reads what gates and agents left behind, by rules that are data. Pure."""
