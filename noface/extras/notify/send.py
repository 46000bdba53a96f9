"""Sends one message through apprise, in a process of its own, which `notify/services.py` ends if it takes too long.

The address stands in its standard input, since every user of the machine can read arguments and agents environments.
"""

import json
import logging
import signal
import sys

ALARM_S = 60


def main() -> int:
    """Read a letter as JSON and send it; print why it was not sent."""
    import apprise

    letter = json.load(sys.stdin)
    sender = apprise.Apprise()
    signal.alarm(ALARM_S)  # noface may have ended meanwhile, and nobody else would
    with apprise.LogCapture(level=logging.WARNING) as log:  # type: ignore[no-untyped-call]
        added = sender.add(letter["url"])
        sent = added and sender.notify(letter["body"], title=letter["title"], body_format=apprise.NotifyFormat.TEXT)
    if not sent:
        words = " ".join(line.split(" - ", 2)[-1] for line in log.getvalue().splitlines())
        sys.stdout.write(words or ("it was not taken" if added else "apprise knows no such address"))
    return 0 if sent else 1


if __name__ == "__main__":
    sys.exit(main())
