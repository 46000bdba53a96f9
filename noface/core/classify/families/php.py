"""PHP: PHPUnit, Pest, Composer, PHP_CodeSniffer, PHPStan."""

# ruff: noqa: E501 - a pattern, and a line of real output, is kept in one piece

from noface.core.classify.kinds import ENV, LINT, NONE, RUNTIME, SYNTAX, TEST
from noface.core.classify.rules import Level, NameRule, Rule

RULES = (
    Rule(
        "php.parse",
        SYNTAX,
        ("Parse error:", "ParseError", "PHP Parse error", "Fatal error: Cannot redeclare", "syntax error, unexpected"),
        r"(?:Parse error: |ParseError: ?|syntax error, unexpected ).*?(?:(?:in|at) (?P<file>\S+?)(?: on line |:)(?P<line>\d+))?$|^Errors parsing (?P<file2>\S+)",
        'PHP Parse error:  syntax error, unexpected token "return" in src/Stock.php on line 12',
        even_in_tests=True,
    ),
    Rule(
        "php.autoload",
        ENV,
        ("Failed to open stream", "failed to open stream", "vendor/autoload.php"),
        r"(?:require|include)(?:_once)?\((?P<dep>\S*vendor/\S+)\): [Ff]ailed to open stream",
        "PHP Warning:  require(/repo/vendor/autoload.php): Failed to open stream: No such file or directory in /repo/t.php on line 3",
    ),
    Rule(
        "php.open-own",
        RUNTIME,
        ("Failed opening required",),
        r"Failed opening required '(?P<dep>[^']+)'",
        "PHP Fatal error:  Uncaught Error: Failed opening required 'src/Vat.php'",
        even_in_tests=True,
    ),
    Rule(
        "php.extension",
        ENV,
        ("requires the", "extension", "Call to undefined function curl_", "Call to undefined function mb_"),
        r"requires the \"?\w+\"?,? .*extensions?|the requested PHP extension \w+ is missing|Unable to load dynamic library",
        'PHPUnit requires the "dom", "json", "libxml" extensions, but the "dom" extension is not available.',
    ),
    Rule(
        "php.fatal",
        RUNTIME,
        ("Fatal error: ", "PHP Fatal error"),
        r"^(?:PHP )?Fatal error: +(?:Uncaught )?(?:(?P<exc>[A-Z][\w\\]*(?:Error|Exception)): )?(?P<msg>.*?)(?: in (?P<file>\S+?)(?::| on line )(?P<line>\d+))?$",
        "PHP Fatal error:  Uncaught TypeError: Unsupported operand types in /repo/src/Stock.php:12",
        level=Level.TRACEBACK,
    ),
    Rule(
        "php.composer",
        ENV,
        (
            "Your requirements could not be resolved",
            "Could not find package",
            "curl error",
            "Could not open input file",
            "could not be downloaded",
            "Composer could not find",
            'Command "',
        ),
        r"^\s*Your requirements could not be resolved|Could not find (?:a matching version of )?package|^Could not open input file|could not be downloaded|Composer could not find|curl error \d+|^\s+Command \"\S+\" is not defined",
        "  Your requirements could not be resolved to an installable set of packages.",
    ),
    Rule(
        "php.composer-json",
        SYNTAX,
        ("does not contain valid JSON", "Parse error on line", "composer.json"),
        r"does not contain valid JSON|\"\./composer\.json\" does not match the expected JSON schema",
        '"./composer.json" does not contain valid JSON',
    ),
    Rule(
        "phpunit.assert",
        TEST,
        ("Failed asserting that", "Failed asserting", "ExpectationFailed"),
        r"^Failed asserting |^Mockery\\Exception|ExpectationFailedException",
        "Failed asserting that 2 matches expected 5.",
        level=Level.TRACEBACK,
    ),
    Rule(
        "phpunit.errors-section",
        RUNTIME,
        ("There was 1 error:", "There were "),
        r"^There (?:was 1 error|were \d+ errors):",
        "There was 1 error:",
        level=Level.WORDS,
    ),
    Rule(
        "phpunit.none",
        NONE,
        ("No tests executed!", "No tests found in class"),
        r"^No tests executed!|No tests found in class",
        "No tests executed!",
    ),
    Rule(
        "phpunit.file",
        ENV,
        ("Cannot open file", 'Test file "', "Test directory", 'Could not read "', "Could not read XML"),
        r"^(?:PHPUnit .*)?(?:Cannot open file \"|Test (?:file|directory) \".*\" not found|Could not read \")",
        'Test file "testss" not found',
    ),
    Rule(
        "phpunit.config",
        SYNTAX,
        ("Could not load XML", "XML document", 'Could not load "'),
        r"^Could not load (?:XML|\")",
        'Could not load "/repo/phpunit.xml":',
    ),
    Rule(
        "phpcs.finding",
        LINT,
        (" | ERROR ", " | WARNING ", "FOUND "),
        r"^\s*\d+ \| (?:ERROR|WARNING)\s+\|(?! \[.\] .*syntax error)|^FOUND \d+ ERRORS?",
        "  3 | ERROR | [x] Expected 1 space after IF keyword; 0 found",
    ),
    Rule(
        "phpcs.syntax",
        SYNTAX,
        ("PHP syntax error",),
        r"PHP syntax error: ",
        "  12 | ERROR | PHP syntax error: syntax error, unexpected token",
    ),
    Rule(
        "phpstan.finding",
        LINT,
        ("[ERROR] Found", "Found "),
        r"^\s*\[ERROR\] Found \d+ errors?|^\s*Found \d+ errors?$",
        " [ERROR] Found 2 errors",
    ),
    Rule(
        "phpstan.syntax",
        SYNTAX,
        ("Syntax error, unexpected",),
        r"Syntax error, unexpected",
        "  12     Syntax error, unexpected T_RETURN",
    ),
    Rule(
        "pest.failed",
        TEST,
        ("Failed asserting", "⨯ "),
        r"^\s+Failed asserting ",
        "  Failed asserting that 2 is identical to 5.",
        level=Level.TRACEBACK,
    ),
)

NAMES = (
    NameRule("phpunit.numbered", (") ",), r"^\d+\) (?P<test>[\w\\]+::\w+.*)$", "1) StockTest::testTotal"),
    NameRule("pest.cross", ("⨯ ",), r"^\s+⨯ (?P<test>.+?)(?: +[\d.]+s)?$", "  ⨯ it totals"),
)
