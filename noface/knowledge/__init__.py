"""What earlier failures teach: the user's hints, and lessons of recoveries that worked. Pure."""
