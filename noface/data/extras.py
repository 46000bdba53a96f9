"""What is optional, by name: the only way from the rest of noface into `noface/extras`, whose parts nothing imports.

A part is imported when its name is first looked up. To add one: a folder in `noface/extras`, and its names here.
"""

from pkgutil import resolve_name
from typing import Any

EXTRAS = {
    "agent gemini": "noface.extras.gemini.agent:AGENT",
    "agent opencode": "noface.extras.opencode.agent:AGENT",
    "agent aider": "noface.extras.aider.agent:AGENT",
    "agent mini": "noface.extras.mini.agent:AGENT",
    "files given": "noface.extras.given_files.read:files_given",
    "tracker beads": "noface.extras.beads.tracker:open_beads",
    "fingerprint beads": "noface.extras.beads.file:beads_fingerprint",
    "executor": "noface.extras.hosts.calls:executor",
    "hosts looked at": "noface.extras.hosts.look:host_points",
    "verb worker": "noface.extras.hosts.verb:worker",
    "verb board": "noface.extras.board.verb:board",
    "night as HTML": "noface.extras.board.night_html:document",
    "notifier": "noface.extras.notify.notifier:Notifier",
    "verb notify": "noface.extras.notify.verb:group",
    "verb night": "noface.extras.night.verb:group",
    "awake": "noface.extras.night.awake:awake",
}


def extra(name: str) -> Any:
    return resolve_name(EXTRAS[name])
