# Issue 1 is done when words.txt is sorted and holds no word twice.
sort -c words.txt || { echo "FAIL: words.txt is not sorted"; exit 1; }
twice=$(uniq -d words.txt)
test -z "$twice" || { echo "FAIL: in words.txt twice: $twice"; exit 1; }
