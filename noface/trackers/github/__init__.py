"""Issues on GitHub: `tracker.py` joins the parts."""
