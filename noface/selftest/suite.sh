#!/bin/sh
# The project's own tests: they fail where a worker left something broken behind.
for broken in work/*.broken; do
  [ -e "$broken" ] || continue
  cat <<'END'
..F                                                                      [100%]
=================================== FAILURES ===================================
__________________________________ test_shelf __________________________________

    def test_shelf():
>       assert stands()
E       AssertionError: a shelf fell down
E       assert False

tests/test_suite.py:8: AssertionError
=========================== short test summary info ============================
FAILED tests/test_suite.py::test_shelf - AssertionError: a shelf fell down
1 failed, 2 passed in 0.02s
END
  exit 1
done
echo '...                                                                      [100%]'
echo '3 passed in 0.02s'
