"""Perl: perl, prove, Test::More, Perl::Critic."""

# ruff: noqa: E501 - a pattern, and a line of real output, is kept in one piece

from noface.core.classify.kinds import ENV, LINT, NONE, RUNTIME, SYNTAX, TEST
from noface.core.classify.rules import Level, NameRule, Rule

RULES = (
    Rule(
        "perl.syntax",
        SYNTAX,
        (
            "syntax error at",
            "Global symbol",
            "Can't find string terminator",
            "Missing right curly",
            "Unmatched right",
            "had compilation errors",
            'Bareword "',
            "Unrecognized character",
            "Substitution ",
            "aborted due to compilation errors",
            "Number found where operator expected",
        ),
        r"^(?:# +)?(?:syntax error at|Global symbol .*|Can't find string terminator .*|Missing right curly .*|Unmatched right .*|Bareword \".*\" not allowed .*|Unrecognized character .*|Search pattern not terminated .*|Substitution \w+ not terminated .*|.*) at (?P<file>\S+) line (?P<line>\d+)(?:, (?:near|at EOF|within)|\.$)(?<!x)|^syntax error at (?P<file2>\S+) line \d+|^\S+ had compilation errors\.|aborted due to compilation errors",
        'syntax error at lib/Stock.pm line 17, near "$sum "',
        level=Level.WORDS,
    ),
    Rule(
        "perl.syntax-strict",
        SYNTAX,
        (
            "syntax error at",
            "Global symbol",
            "Can't find string terminator",
            "Missing right curly",
            "Unmatched right",
            'Bareword "',
            "Unrecognized character",
        ),
        r"^(?:# +)?(?:syntax error at|Global symbol .* at|Can't find string terminator .* at|Missing right curly .* at|Unmatched right .* at|Bareword \".*\" not allowed .* at|Unrecognized character .* at) (?P<file>\S+) line (?P<line>\d+)",
        'syntax error at lib/Stock.pm line 17, near "$sum "',
        even_in_tests=True,
    ),
    Rule(
        "perl.missing",
        ENV,
        ("Can't locate",),
        r"Can't locate (?P<dep>[\w/]+)\.pm in @INC.*(?: at (?P<file>\S+) line (?P<line>\d+))?",
        "Can't locate Stock/Line.pm in @INC (you may need to install the Stock::Line module)",
        own_kind=RUNTIME,
        even_in_tests=True,
    ),
    Rule(
        "perl.die",
        RUNTIME,
        (" line ",),
        r"^(?!#|\s)(?!.*(?:BEGIN failed|Compilation failed in require|found where operator expected|\bwarn)).* at (?P<file>\S+\.(?:pl|pm|t|PL)) line (?P<line>\d+)(?:, <\w+> line \d+)?\.$",
        'Can\'t locate object method "audit" via package "Stock" at lib/Stock.pm line 17.',
        level=Level.TRACEBACK,
    ),
    Rule(
        "perl.system",
        ENV,
        (
            "No space left on device at",
            "Permission denied at",
            "Connection refused at",
            "Name or service not known at",
            "Address already in use at",
        ),
        r": (?:No space left on device|Permission denied|Connection refused|Name or service not known|Address already in use) at (?P<file>\S+) line (?P<line>\d+)",
        "cannot write x: No space left on device at lib/Stock.pm line 17.",
        even_in_tests=True,
    ),
    Rule(
        "perl.failed-test",
        TEST,
        ("Failed test",),
        r"^\s*#\s+Failed test (?!\(TODO)",
        "#   Failed test 'total of two lines'",
        level=Level.SUMMARY,
        even_in_tests=True,
    ),
    Rule(
        "prove.dubious",
        RUNTIME,
        ("Dubious, test returned",),
        r"^Dubious, test returned",
        "Dubious, test returned 255 (wstat 65280, 0xff00)",
        level=Level.EXIT_CODE,
    ),
    Rule(
        "prove.path",
        ENV,
        ("Cannot detect source of", "couldn't be found"),
        r"Cannot detect source of '",
        "Cannot detect source of 'tt/'! at /usr/share/perl5/TAP/Parser.pm",
    ),
    Rule(
        "perlcritic.finding",
        LINT,
        ("(Severity: ", "Severity: "),
        r"^.* at line (?P<row>\d+), column \d+\..*\(?Severity: \d",
        "Code before strictures are enabled at line 3, column 1.  See page 429 of PBP.  (Severity: 5)",
    ),
    Rule(
        "perl.none",
        NONE,
        ("No tests run!", "Result: NOTESTS"),
        r"^(?:# )?No tests run!|^Result: NOTESTS",
        "Result: NOTESTS",
    ),
)

NAMES = (
    NameRule(
        "perl.failed-test",
        ("Failed test '",),
        r"^\s*#\s+Failed test '(?P<test>.*)'$",
        "#   Failed test 'total of two lines'",
    ),
)
