"""A change judged by its diff, before any gate runs."""
