#!/bin/sh
set -eu
. ./tests/lib
same tests/expected/top.txt "$BIN/top" 2 tests/poem.txt
