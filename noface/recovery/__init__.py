"""What comes next? The retry policy: ladder, rules, schedule, breakdown, and what a person is asked. Pure."""
