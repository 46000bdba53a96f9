#!/bin/sh
# A file that is not there is an error.
set -eu
. ./tests/lib
! "$BIN/tally" tests/none.txt 2>/dev/null || exit 1
