"""The command line: a module for each verb, and the wiring of the parts."""
