#!/bin/sh
set -eu
. ./tests/lib
same tests/expected/tally.txt "$BIN/tally" tests/poem.txt
