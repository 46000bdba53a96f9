# The test: one word a line.
grep -n '[[:space:]]' words.txt && { echo "FAIL: words.txt has more than a word on a line"; exit 1; }
test -s words.txt || { echo "FAIL: words.txt is empty"; exit 1; }
