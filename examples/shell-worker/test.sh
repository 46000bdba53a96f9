# The test: whatever the greeting is called, welcome.sh uses it.
[ "$(sh welcome.sh Ada)" = "Hello, Ada!" ] || { echo "FAIL: welcome.sh does not greet Ada"; exit 1; }
[ "$(sh welcome.sh)" = "Hello, world!" ] || { echo "FAIL: welcome.sh does not greet the world"; exit 1; }
