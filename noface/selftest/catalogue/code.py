"""Code that does not parse, or dies when it runs."""

from noface.selftest.catalogue.family import elsewhere, family, helpless, shown, stronger
from noface.selftest.scenario import By, Hint, Scenario, Step, Wrong

SYNTAX_ERROR = family(
    "SYNTAX_ERROR",
    Scenario("the line that does not parse", (Step("draft", By.DRAFT, Wrong.BROKEN_PYTHON),)),
    Scenario("the compiler's message", (shown("gcc"),), "make"),
    Scenario("the file that the compiler names", (shown("rustc"),), "cargo build"),
    Scenario(
        "the hint for the language",
        (elsewhere("pytest", wrong=Wrong.BROKEN_JSON),),
        hint=Hint("Labels are written as {code} in JSON.", language="json"),
    ),
    Scenario("a stronger model", (stronger("python_syntax"),), "check-python"),
    Scenario("both errors, one after the other", (shown("tsc"), shown("javac", "next")), "tsc"),
    helpless("nothing helps", Step("never", form="gcc"), tool="make"),
)

RUNTIME_ERROR = family(
    "RUNTIME_ERROR",
    Scenario("the message at the end of the trace", (shown("python_trace"),), "desk"),
    Scenario("the file on top of the trace", (shown("node_trace"),), "node desk.js"),
    Scenario("the panic's message", (shown("go_panic"),), "go run ./cmd"),
    Scenario(
        "the hint for the exception",
        (elsewhere("ruby_trace"),),
        "ruby desk.rb",
        hint=Hint("A KeyError of the desk: take {code}.", error_regex=r"key not found: \S+ \(KeyError\)"),
    ),
    Scenario(
        "which approaches have failed",
        (Step("approach", By.TRIED, form="tried", says="cellar attic stair porch"),),
        "desk",
    ),
    Scenario("a stronger model", (stronger("java_trace"),), "java -jar desk.jar"),
    helpless("nothing helps", Step("never", form="python_trace"), tool="desk"),
)
