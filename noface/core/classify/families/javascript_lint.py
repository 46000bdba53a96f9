"""JavaScript's linters and formatters, and those of styles and markup."""

# ruff: noqa: E501 - a pattern, and a line of real output, is kept in one piece

from noface.core.classify.kinds import ENV, LINT, SYNTAX
from noface.core.classify.rules import Rule

RULES = (
    Rule(
        "biome.path",
        ENV,
        ("fs/cantRead", "can't read the following", "internalError/fs"),
        r"fs/cantRead|internalError/fs",
        "srcc/x.js fs/cantRead ━━━━━━━━━━",
    ),
    Rule(
        "eslint.parse",
        SYNTAX,
        ("Parsing error", "Fatal:", "CssSyntaxError"),
        r"^\s+(?P<row>\d+):\d+\s+(?:error|✖|×)\s+(?:Parsing error|Fatal|.*CssSyntaxError)|Parsing error: |^\S+: line \d+, col \d+, Error - Parsing error",
        "  11:26  error  Parsing error: Unexpected token ;",
    ),
    Rule(
        "eslint.finding",
        LINT,
        ("  error  ", "  warning  ", "  ✖  ", "  ✖ ", " error ", " warning "),
        r"^\s+(?P<row>\d+):\d+\s+(?:error|warning|✖|⚠|×)\s+(?!Parsing error|Fatal|.*CssSyntaxError)\S.*$",
        "  11:3  error  'crt' is not defined  no-undef",
    ),
    Rule(
        "eslint.config",
        ENV,
        (
            "couldn't find",
            "No files matching",
            "Cannot find config",
            "couldn't determine",
            "Failed to load plugin",
            "Failed to load config",
            "No ESLint configuration",
            "Could not find config file",
            "No configuration provided",
        ),
        r"ESLint couldn't find|No files matching|Failed to load (?:plugin|config|parser)|No ESLint configuration found|Could not find config file|No configuration provided for|couldn't find an eslint\.config",
        'ESLint couldn\'t find the plugin "eslint-plugin-react".',
    ),
    Rule(
        "eslint.config-value",
        SYNTAX,
        (
            "ConfigError",
            "onfiguration for rule",
            "Config (unnamed)",
            "Unexpected key",
            'Key "',
            "Cannot read config file",
            "ESLint configuration in",
        ),
        r"Configuration for rule \"|^(?:ConfigError|TypeError: Key \"|Error: Key \")|Cannot read config file|ESLint configuration in .* is invalid|Unexpected top-level property",
        'Error: Key "rules": Key "semi": Expected severity of "off", 0, "warn", 1, "error", or 2.',
    ),
    Rule(
        "prettier.parse",
        SYNTAX,
        ("[error] ",),
        r"^\[error\] (?P<file>\S+): (?:\w*Syntax\w*Error|.*Error): .*?\((?P<line>\d+):\d+\)|^\[error\] (?P<file2>\S+): \w*Error: ",
        '[error] src/cart.js: SyntaxError: Unexpected token, expected "," (11:24)',
    ),
    Rule(
        "prettier.missing",
        ENV,
        ("[error] No files matching", "[error] No parser", "Cannot find package", "[error] Cannot find"),
        r"^\[error\] (?:No files matching|Cannot find (?:package|module))",
        '[error] No files matching the pattern were found: "srcc".',
    ),
    Rule(
        "prettier.format",
        LINT,
        ("Code style issues", "[warn] "),
        r"^(?:\[warn\] )?Code style issues|^\[warn\] \S+\.\w+$|Forgot to run Prettier",
        "[warn] Code style issues found in the above file. Run Prettier with --write to fix.",
    ),
    Rule(
        "stylelint.finding",
        LINT,
        ("✖", "×"),
        r"^\s+\d+:\d+\s+[✖×]\s+(?!.*CssSyntaxError)\S|^[✖×] \d+ problems?",
        "  3:5  ✖  Unexpected invalid hex color  color-no-invalid-hex",
    ),
    Rule(
        "biome.finding",
        LINT,
        (" lint/", " format ━", " lint ━", "assist/", " organizeImports "),
        r"^\S+(?::\d+:\d+)? (?:lint/\S+|format|organizeImports|assist/\S+)\s.*━+",
        "./src/cart.js:11:3 lint/suspicious/noDebugger  FIXABLE  ━━━━━━━━━━",
    ),
    Rule(
        "biome.parse",
        SYNTAX,
        (" parse ━", "parse ━"),
        r"^(?P<file>\S+):(?P<line>\d+):\d+ parse ━",
        "./src/cart.js:11:26 parse ━━━━━━━━━━━━━━━━━━━━",
    ),
    Rule(
        "standard.finding",
        LINT,
        ("standard: ", "xo: "),
        r"^(?:standard|semistandard|xo|ts-standard): ",
        "standard: Use JavaScript Standard Style (https://standardjs.com)",
    ),
    Rule(
        "tslint.finding",
        LINT,
        ("ERROR: ",),
        r"^ERROR: (?P<file>\S+):(?P<line>\d+):\d+ - ",
        "ERROR: src/cart.ts:3:5 - Missing semicolon",
    ),
    Rule(
        "markdownlint.finding",
        LINT,
        (" MD0",),
        r"^(?P<file>[^:\s]+):(?P<line>\d+)(?::\d+)? (?:error )?MD\d{3}",
        "README.md:3:1 MD022/blanks-around-headings Headings should be surrounded by blank lines",
    ),
    Rule("htmlhint.finding", LINT, ("|",), r"^\s+L(?P<row>\d+) \|", "   L3 |<img src=x>", tools=("htmlhint",)),
)
