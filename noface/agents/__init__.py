"""The coding agents: each adapter builds a command line and reads a stream."""
