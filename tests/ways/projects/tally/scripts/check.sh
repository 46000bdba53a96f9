#!/bin/sh
# Run tests: check.sh BIN TEST...
set -eu
BIN=$1
export BIN
shift
for test in "$@"; do
	[ -x "$test" ] || continue
	"$test"
	echo "ok $test"
done
