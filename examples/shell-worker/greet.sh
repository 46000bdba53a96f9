# Greets people; meant to be sourced.
say_hi() {
    echo "Hello, ${1:-world}!"
}
