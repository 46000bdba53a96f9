#!/bin/sh
# Names lines of more than 80 characters; exit 1 where there are any.
! grep -rnE '^.{81,}' --include='*.py' --include='*.mjs' --exclude-dir=.venv --exclude-dir=node_modules api web
