"""Plays the role that is asked whether an issue wants its tests changed: `judge.py MODE LOG`, a model's lazy stand-in.

`honest` says yes and quotes the issue's title; `best` says yes and quotes the sentence of the issue of which the question
says most; `invented` says yes and quotes what stands nowhere; `no` says no. The form of its answer is the one that
noface's table of answers has for the question.
"""

import json
import os
import re
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from noface.data import document

INVENTED = "The tests shall be changed in whatever way this change changes them."
_WORD = re.compile(r"[^\W_]{3,}")
_SENTENCE_END = re.compile(r"\n\s*\n|(?<=[.!?])\s+|\n(?=\s*[-*+]\s)")
_WORDS_MIN = 3
_QUOTES = ("quote", "sentence", "evidence")


def main(mode: str, log: str) -> int:
    """Answer the question of the order in the environment, and log what was asked."""
    order = json.loads(Path(os.environ["NOFACE_ORDER_FILE"]).read_text())
    topic = os.environ["NOFACE_TOPIC"]
    said = filled(
        document("answers")[topic], yes=mode != "no", quote=INVENTED if mode == "invented" else order["issue"]["title"]
    )
    with Path(log).open("a") as file:
        file.write(f"{topic}\t{json.dumps(said)}\n")
    print(json.dumps(said))
    return 0


def quoted(mode: str, issue: Mapping[str, str], prompt: str) -> str:
    """Return what is quoted as the issue's sentence."""
    title, body = issue["title"], issue["body"]
    if mode != "best":
        return INVENTED if mode == "invented" else title
    told = Counter(_WORD.findall(prompt.casefold())) - Counter(_WORD.findall(f"{title}\n{body}".casefold()))
    sentences = [title, *(part.strip() for part in _SENTENCE_END.split(body) if len(part.split()) >= _WORDS_MIN)]
    return max(sentences, key=lambda sentence: len(set(_WORD.findall(sentence.casefold())) & set(told)))


def filled(schema: Any, *, yes: bool, quote: str, name: str = "") -> Any:
    """Return a value of a schema that says yes, or no: the first word of each choice, or the last."""
    if "enum" in schema:
        return schema["enum"][0 if yes else -1]
    match schema.get("type"):
        case "object":
            wanted = schema.get("required", ()) if yes else schema["properties"]
            names = [key for key in schema["properties"] if key in wanted or any(word in key for word in _QUOTES)]
            return {key: filled(schema["properties"][key], yes=yes, quote=quote, name=key) for key in names}
        case "boolean":
            return yes
        case "array":
            return [filled(schema["items"], yes=yes, quote=quote, name=name)]
        case "integer" | "number":
            return schema.get("minimum", 0)
    return quote if any(word in name for word in _QUOTES) else "As it seems to me."


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
