"""The worker's program at work: started, watched, its logs and sessions."""
