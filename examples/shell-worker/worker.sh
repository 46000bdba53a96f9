#!/bin/sh
# A worker in ten lines: does issues whose title is "Rename OLD to NEW". README.md says what it gets.
set -eu
title=$(python3 -c 'import json, os; print(json.load(open(os.environ["NOFACE_ORDER_FILE"]))["issue"]["title"])')
set -f; set -- $title; set +f
[ "$#" = 4 ] && [ "$1 $3" = "Rename to" ] || { echo "I only know: Rename OLD to NEW" >&2; exit 1; }
case "$2$4" in *[!A-Za-z0-9_]*) echo "not plain names: $2, $4" >&2; exit 1 ;; esac
files=$(grep -rlw --exclude-dir=.git --exclude-dir=issues --include='*.sh' "$2" .) || { echo "no $2 here"; exit 0; }
echo "renaming $2 to $4 in:" $files
sed -i.bak "s/\\b$2\\b/$4/g" $files && find . -name '*.bak' -delete
