"""A sample project with real bugs, and a scripted worker for it, which needs no key and no network."""
