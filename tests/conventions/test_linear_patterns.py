"""No text that somebody else wrote holds the process: each regular expression takes a time that grows as its text does.

A pattern that needs longer holds up all threads at once, so Ctrl-C, limits and other issues wait for it; that it runs in
a thread helps nobody. So all are tried, wherever they stand, with the texts that cost them most: a new one is, too.
Of the 1,219 that read texts of any length eleven take more than 1 s for 2 MB, the dearest 8.4 s, and these get no more
than 100,000 characters or one line.
"""

import re
from functools import cache
from hashlib import sha256
from pathlib import Path
from time import process_time

import pytest
from support.slow_text import all_patterns, attacks, is_slow, uses

from noface.diagnosis.text import LINE_MAX

NOT_OF_AGENTS = (
    "detection.",
    "config.",
    "cli.",
    "ui.",
    "demo.",
    "table ecosystems",
    "table starts",
    "git.repository:",
    "process.home_settings",
    "table sandbox_places",
)
"""Read main's files, settings, commands and versions: what a person has committed, typed, or has in their home."""
IN_LINES = (
    *("rule ", "diagnosis.readers.", "diagnosis.role.", "diagnosis.decide", "diagnosis.context"),
    *("table unasked.checks.", "table unasked.definitions.", "table unasked.in_place_of.", "table unasked.measures."),
)
"""Read lines of a log, of which none is longer than LINE_MAX (diagnosis/text.py), or the first 400 letters of one."""
OF_PATHS = (
    *("integrity.diff.rules:", "diagnosis.syntax._PATHS", "recovery.breakdown_files._TEST_NAMES"),
    *("table integrity.pieces.", "table integrity.prose.", "table runners."),
)
"""Read paths and options, of which no system takes one longer than 4,096."""
PATH_MAX = 4_096
_WORST = 100
"""So many times as long as a plain quadratic one may a pattern take over the longest text that it gets."""
PARTS = 8


def _kind(name):
    kinds = {NOT_OF_AGENTS: 0, IN_LINES: LINE_MAX, OF_PATHS: PATH_MAX}
    return next((bound for names, bound in kinds.items() if name.startswith(names)), None)


TRIED = Path(__file__).with_name("linear_patterns.txt")
"""A digest for each pattern that was found linear: only what is new is tried.

`PYTHONPATH=tests .venv/bin/python tests/conventions/test_linear_patterns.py` tries what is new, and adds it.
"""


@cache
def strictest():
    """Return each pattern once, with the strictest of its places."""
    found = {}
    for name, pattern, anchored in all_patterns():
        key, bound = (pattern.pattern, pattern.flags, anchored), _kind(name)
        if key not in found or bound is None:
            found[key] = name, pattern, anchored, bound
    return tuple(found.values())


@pytest.fixture
def patterns():
    return strictest()


def _digest(pattern, anchored):
    return sha256(repr((pattern.pattern, pattern.flags, anchored)).encode()).hexdigest()[:12]


def _new(patterns):
    tried = frozenset(TRIED.read_text("utf-8").split())
    return [each for each in patterns if each[3] is None and _digest(each[1], each[2]) not in tried]


def test_the_patterns_of_every_room_are_seen(patterns):
    rooms = {name.split(".")[0].split(" ")[0] for name, *_ in patterns}
    assert rooms >= {"agents", "diagnosis", "forge", "gates", "git", "integrity", "process", "prompts", "recovery"}
    assert rooms >= {"secrets", "trackers", "rule", "shape", "table"}


@pytest.mark.parametrize(
    ("pattern", "text", "linear"),
    [
        ("a*b", "a", False),
        ("a*+b", "a", False),
        ("(?<!a)a*+b", "a", True),
        (r"\bNODE_ENV\b[^\n]*\btest\b", "NODE_ENV ", False),
        (r"\bNODE_ENV\b[^\n]{0,300}\btest\b", "NODE_ENV ", True),
        (r"(\w+\s?)*$", "a ", False),
        (r"(x+x+)+y", "x", False),
        (r"\s+$", " ", False),
        (r"(['\"]).*?\1", "'a ", True),
        (r"(?:ab)*?c", "ab", False),
        (r"(?>a|b)*+c|(?=x)y", "ab", False),
    ],
)
def test_time_tells_what_is_linear(pattern, text, linear):
    assert is_slow(re.compile(pattern), "", text, anchored=False) is not linear


@pytest.mark.parametrize("pattern", [r"\bNODE_ENV\b[^\n]*\btest\b", r"\bmodules\b[^\n]*\"jest\""])
def test_what_begins_anew_at_each_word_is_reached_by_the_attacks(pattern):
    assert _slow([("x", re.compile(pattern), False, None)])


def _slow(patterns):
    slow = {}
    for name, pattern, anchored, bound in patterns:
        for attack in sorted(attacks(pattern)) if bound is None else ():
            if is_slow(pattern, *attack, anchored=anchored):
                slow[name] = f"over {attack}: {pattern.pattern[:200]}"
                break
    return slow


def test_what_is_new_and_reads_texts_of_any_length_is_linear(patterns):
    assert not _slow(_new(patterns))


def test_a_new_pattern_is_tried(patterns):
    quadratic = ("x", re.compile("a*b # of this test", re.VERBOSE), False, None)
    assert _new((quadratic, *patterns))[0] == quadratic


def _cost(run, text):
    costs = []
    for _ in range(3):
        began = process_time()
        run(text)
        costs.append(process_time() - began)
    return min(costs)


@pytest.mark.thorough
@pytest.mark.parametrize("part", range(PARTS))
def test_what_reads_lines_and_paths_is_no_worse_than_quadratic_over_the_longest(patterns, part):
    slow = {}
    plain = {size: _cost(uses(re.compile("a*b"), anchored=False), "a" * size) for size in (LINE_MAX, PATH_MAX)}
    for name, pattern, anchored, bound in patterns[part::PARTS]:
        run = uses(pattern, anchored=anchored)
        for before, unit in attacks(pattern) if bound else ():
            text = (before + unit * (bound // len(unit)))[:bound] + "\x01"
            began = process_time()
            run(text)
            if process_time() - began > _WORST * plain[bound] and _cost(run, text) > _WORST * plain[bound]:
                slow[name] = f"over {(before, unit)}: {pattern.pattern[:200]}"
                break
    assert not slow


if __name__ == "__main__":
    assert not (found := _slow(_new(strictest()))), found
    TRIED.write_text(
        "".join(f"{each}\n" for each in sorted({_digest(p, a) for _, p, a, b in strictest() if b is None}))
    )
