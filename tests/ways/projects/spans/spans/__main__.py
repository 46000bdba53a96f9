"""Print the merged spans of the first argument."""

import sys
from pathlib import Path

from spans.merge import merge
from spans.parse import parse
from spans.show import show

HELP = Path(__file__).with_name("help.txt")


def main(arguments: list[str]) -> int:
    if arguments == ["--help"]:
        print(HELP.read_text(), end="")
        return 0
    print(show(merge(parse(arguments[0]))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
