"""Hold prices against a table."""

import sys

from checks.table import ROWS
from till.prices import total

wrong = [row for row in ROWS if total(row[0], row[1]) != row[2]]
for row in wrong:
    print("wrong:", row)
sys.exit(1 if wrong else 0)
