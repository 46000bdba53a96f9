. ./greet.sh
[ "$(greet Ada)" = "Hello, Ada!" ] || { echo "FAIL: greet does not greet Ada"; exit 1; }
