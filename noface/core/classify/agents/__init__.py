"""The rules about agents' errors, as data: what providers say, what each CLI says, how a CLI fails to start."""
