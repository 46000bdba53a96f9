#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    printf("%d\n", argc < 2 ? 0 : atoi(argv[1]) / 2);
    return 0;
}
