#!/bin/sh
# Names lines of more than 100 characters; exit 1 where there are any.
cd "$(dirname "$0")/.." || exit
! grep -rnE "^.{101,}" --include="*.py" --include="*.mjs" --exclude-dir=.venv --exclude-dir=node_modules api web
