. ./greet.sh
say_hi "$@"
