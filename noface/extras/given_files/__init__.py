"""Files that an agent is given which finds none by itself."""
