"""Rules for Ruby and PHP: their interpreters, test frameworks, linters, package managers."""

from noface.core.classify.kinds import ENV, LINT, NONE, RUNTIME, SYNTAX, TEST, TIME
from noface.core.classify.rules import Level, NameRule, Rule

RULES = (
    Rule("ruby.typed-tail", RUNTIME, ("Error)", "Exception)"), r"^\s+(?P<msg>\S.*) \((?P<exc>(?:[A-Z]\w*::)*[A-Z]\w*(?:Error|Exception))\)$", "      nope (RuntimeError)", level=Level.TRACEBACK),
    Rule("ruby.syntax", SYNTAX, ("syntax error", "SyntaxError", "syntax errors found", "unterminated string meets", "unterminated list meets"), r"^(?:.*?: )?(?P<file>[^\s:]+\.(?:rb|rake|gemspec|ru)|Rakefile|Gemfile):(?P<line>\d+): (?:.*?)(?:syntax errors?\b|unterminated|unexpected|\(SyntaxError\))|^SyntaxError:$|\(SyntaxError\)$", "lib/stock.rb:12: syntax error, unexpected end-of-input, expecting `end'", even_in_tests=True),
    Rule("ruby.load", ENV, ("cannot load such file",), r"cannot load such file -- (?P<dep>[^\s(]+)", "<internal:kernel>:85:in `require': cannot load such file -- nokogiri (LoadError)", own_kind=RUNTIME, even_in_tests=True),
    Rule("ruby.gem", ENV, ("Could not find", "Bundler::GemNotFound", "can't find gem", "Could not locate Gemfile", "Gem::MissingSpecError", "Gem::LoadError", "bundler: command not found", "Bundler could not find", "Could not fetch specs", "Could not reach host", "in locally installed gems", "can't activate"), r"^(?:.*: )?Could not find (?:gem|'?[\w-]+'? \(|[\w-]+-[\d.]+)|GemNotFound|can't find gem|Could not locate Gemfile|Gem::(?:MissingSpecError|LoadError)|bundler: command not found|Bundler could not find|Could not (?:fetch specs|reach host)|locally installed gems", "Could not find gem 'rspec' in locally installed gems."),
    Rule("ruby.gemfile", SYNTAX, ("There was an error parsing", "There was an error while loading"), r"^\[!\] There was an error (?:parsing|while loading)", "[!] There was an error parsing `Gemfile`: syntax error"),
    Rule("ruby.uncaught", RUNTIME, ("Error)", "Exception)", ":in `", ":in '"), r"^(?P<file>[^\s:]+\.\w+|Rakefile|-e):(?P<line>\d+):in [`'].*?': (?P<msg>.*) \((?P<exc>[A-Z][\w:]*)\)$", "lib/stock.rb:12:in `total': undefined method `sum' for nil:NilClass (NoMethodError)", level=Level.TRACEBACK),
    Rule("ruby.rspec-expect", TEST, ("expected", "Failure/Error: expect", "Failure/Error: is_expected", "ExpectationNotMet"), r"^\s+Failure/Error: .*(?:\bexpect\b|should\b|is_expected)|^\s+(?:expected|got): |^\s+expected .* (?:to|not to) |ExpectationNotMetError", "     Failure/Error: expect(total).to eq(5)", level=Level.TRACEBACK),
    Rule("ruby.rspec-outside", RUNTIME, ("An error occurred while loading", "An error occurred in a"), r"^An error occurred (?:while loading|in an? `)", "An error occurred while loading ./spec/stock_spec.rb.", level=Level.WORDS),
    Rule("ruby.rspec-exception", RUNTIME, ("Error:", "Exception:"), r"^\s{5,}(?P<exc>(?:[A-Z]\w*::)*[A-Z]\w*(?:Error|Exception|Interrupt)):$", "     NoMethodError:", level=Level.TRACEBACK),
    Rule("ruby.minitest-failure", TEST, ("Failure:", ") Failure"), r"^\s*\d+\) Failure:|^Failure: ", "  1) Failure:", level=Level.SUMMARY, even_in_tests=True),
    Rule("ruby.minitest-error", RUNTIME, (") Error:", "Error: "), r"^\s*\d+\) Error:|^Error: test\w*\(", "  2) Error:", level=Level.SUMMARY, even_in_tests=True),
    Rule("ruby.system", ENV, ("Errno::ENOSPC", "Errno::ECONNREFUSED", "Errno::EACCES", "Errno::EADDRINUSE", "SocketError", "Errno::EROFS", "Errno::EHOSTUNREACH", "getaddrinfo: "), r"Errno::(?:ENOSPC|ECONNREFUSED|EACCES|EADDRINUSE|EROFS|EHOSTUNREACH|ENETUNREACH)(?:: |:$)|Socket(?:::Resolution)?Error:?|\((?:Errno::(?:ENOSPC|ECONNREFUSED|EACCES|EADDRINUSE|EROFS|EHOSTUNREACH)|SocketError)\)$", "     Errno::ENOSPC:", level=Level.SUMMARY, even_in_tests=True),
    Rule("ruby.warn-syntax", SYNTAX, ("Lint/Syntax",), r"^(?P<file>[^\s:]+):(?P<line>\d+):\d+: [EF]: Lint/Syntax", "lib/stock.rb:12:1: E: Lint/Syntax: unexpected token $end"),
    Rule("rubocop.offense", LINT, (": C: ", ": W: ", ": E: ", ": F: ", ": R: "), r"^(?P<file>[^\s:]+):(?P<line>\d+):\d+: [CWEFR]: (?!Lint/Syntax)(?:\[\w+\] )*\w+", "lib/stock.rb:3:1: C: [Correctable] Style/StringLiterals: Prefer single-quoted strings"),
    Rule("rubocop.config", SYNTAX, ("unrecognized cop", "Error: RuboCop found"), r"^Error: (?:unrecognized cop|RuboCop found|.*obsolete)|unrecognized cop or department", "Error: unrecognized cop or department Stlye found in .rubocop.yml"),
    Rule("cucumber.undefined", RUNTIME, ("undefined)", "Undefined step"), r"^\d+ scenarios? \(.*undefined\)|^Undefined step: ", "1 scenario (1 undefined)", level=Level.TRACEBACK),
    Rule("rake.aborted", RUNTIME, ("rake aborted!",), r"^rake aborted!", "rake aborted!", level=Level.WORDS),
    Rule("rake.no-task", ENV, ("Don't know how to build task", "No Rakefile found"), r"^(?:rake aborted!\s*)?(?:Don't know how to build task|No Rakefile found)", "Don't know how to build task 'tset' (See the list of available tasks with `rake --tasks`)"),
    Rule("rspec.no-file", RUNTIME, ("error occurred outside of examples", "errors occurred outside of examples"), r"^\d+ examples?, \d+ failures?.*, \d+ errors? occurred outside of examples", "0 examples, 0 failures, 1 error occurred outside of examples", level=Level.TRACEBACK),
    Rule("rspec.path", ENV, ("No such file or directory", "Run options: include"), r"^\s*LoadError:$(?!)|^\s+cannot load such file -- /repo/spec/\S+_spec$(?!)|^rspec: .*", "rspec: no such file", level=Level.WORDS),
    Rule("php.parse", SYNTAX, ("Parse error:", "ParseError", "PHP Parse error", "Fatal error: Cannot redeclare", "syntax error, unexpected"), r"(?:Parse error: |ParseError: ?|syntax error, unexpected ).*?(?:(?:in|at) (?P<file>\S+?)(?: on line |:)(?P<line>\d+))?$|^Errors parsing (?P<file2>\S+)", "PHP Parse error:  syntax error, unexpected token \"return\" in src/Stock.php on line 12", even_in_tests=True),
    Rule("php.autoload", ENV, ("Failed to open stream", "failed to open stream", "vendor/autoload.php"), r"(?:require|include)(?:_once)?\((?P<dep>\S*vendor/\S+)\): [Ff]ailed to open stream", "PHP Warning:  require(/repo/vendor/autoload.php): Failed to open stream: No such file or directory in /repo/t.php on line 3"),
    Rule("php.open-own", RUNTIME, ("Failed opening required",), r"Failed opening required '(?P<dep>[^']+)'", "PHP Fatal error:  Uncaught Error: Failed opening required 'src/Vat.php'", even_in_tests=True),
    Rule("php.extension", ENV, ("requires the", "extension", "Call to undefined function curl_", "Call to undefined function mb_"), r"requires the \"?\w+\"?,? .*extensions?|the requested PHP extension \w+ is missing|Unable to load dynamic library", "PHPUnit requires the \"dom\", \"json\", \"libxml\" extensions, but the \"dom\" extension is not available."),
    Rule("php.fatal", RUNTIME, ("Fatal error: ", "PHP Fatal error"), r"^(?:PHP )?Fatal error: +(?:Uncaught )?(?:(?P<exc>[A-Z][\w\\]*(?:Error|Exception)): )?(?P<msg>.*?)(?: in (?P<file>\S+?)(?::| on line )(?P<line>\d+))?$", "PHP Fatal error:  Uncaught TypeError: Unsupported operand types in /repo/src/Stock.php:12", level=Level.TRACEBACK),
    Rule("php.composer", ENV, ("Your requirements could not be resolved", "Could not find package", "curl error", "Could not open input file", "could not be downloaded", "Composer could not find", "Command \""), r"^\s*Your requirements could not be resolved|Could not find (?:a matching version of )?package|^Could not open input file|could not be downloaded|Composer could not find|curl error \d+|^\s+Command \"\S+\" is not defined", "  Your requirements could not be resolved to an installable set of packages."),
    Rule("php.composer-json", SYNTAX, ("does not contain valid JSON", "Parse error on line", "composer.json"), r"does not contain valid JSON|\"\./composer\.json\" does not match the expected JSON schema", "\"./composer.json\" does not contain valid JSON"),
    Rule("phpunit.assert", TEST, ("Failed asserting that", "Failed asserting", "ExpectationFailed"), r"^Failed asserting |^Mockery\\Exception|ExpectationFailedException", "Failed asserting that 2 matches expected 5.", level=Level.TRACEBACK),
    Rule("phpunit.errors-section", RUNTIME, ("There was 1 error:", "There were "), r"^There (?:was 1 error|were \d+ errors):", "There was 1 error:", level=Level.WORDS),
    Rule("phpunit.none", NONE, ("No tests executed!", "No tests found in class"), r"^No tests executed!|No tests found in class", "No tests executed!"),
    Rule("phpunit.file", ENV, ("Cannot open file", "Test file \"", "Test directory", "Could not read \"", "Could not read XML"), r"^(?:PHPUnit .*)?(?:Cannot open file \"|Test (?:file|directory) \".*\" not found|Could not read \")", "Test file \"testss\" not found"),
    Rule("phpunit.config", SYNTAX, ("Could not load XML", "XML document", "Could not load \""), r"^Could not load (?:XML|\")", "Could not load \"/repo/phpunit.xml\":"),
    Rule("phpcs.finding", LINT, (" | ERROR ", " | WARNING ", "FOUND "), r"^\s*\d+ \| (?:ERROR|WARNING)\s+\|(?! \[.\] .*syntax error)|^FOUND \d+ ERRORS?", "  3 | ERROR | [x] Expected 1 space after IF keyword; 0 found"),
    Rule("phpcs.syntax", SYNTAX, ("PHP syntax error",), r"PHP syntax error: ", "  12 | ERROR | PHP syntax error: syntax error, unexpected token"),
    Rule("phpstan.finding", LINT, ("[ERROR] Found", "Found "), r"^\s*\[ERROR\] Found \d+ errors?|^\s*Found \d+ errors?$", " [ERROR] Found 2 errors"),
    Rule("phpstan.syntax", SYNTAX, ("Syntax error, unexpected",), r"Syntax error, unexpected", "  12     Syntax error, unexpected T_RETURN"),
    Rule("pest.failed", TEST, ("Failed asserting", "⨯ "), r"^\s+Failed asserting ", "  Failed asserting that 2 is identical to 5.", level=Level.TRACEBACK),
)

NAMES = (
    NameRule("rspec.rerun", ("rspec ",), r"^rspec (?P<place>\S+) # (?P<test>.+)$", "rspec ./spec/stock_spec.rb:4 # Stock totals"),
    NameRule("minitest.name", ("#test_",), r"^(?P<test>[A-Z][\w:]*#test_\w+)(?: \[.*)?:?(?: \[.*)?$", "StockTest#test_total [test/stock_test.rb:8]:"),
    NameRule("test-unit.name", ("Failure: ", "Error: "), r"^(?:Failure|Error): (?P<test>test\S*\(\w+\))", "Failure: test_total(StockTest)"),
    NameRule("phpunit.numbered", (") ",), r"^\d+\) (?P<test>[\w\\]+::\w+.*)$", "1) StockTest::testTotal"),
    NameRule("cucumber.scenario", ("cucumber ",), r"^cucumber (?P<place>\S+:\d+) # Scenario: (?P<test>.+)$", "cucumber features/cart.feature:3 # Scenario: total"),
    NameRule("pest.cross", ("⨯ ",), r"^\s+⨯ (?P<test>.+?)(?: +[\d.]+s)?$", "  ⨯ it totals"),
)
