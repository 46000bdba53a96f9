"""Workers that go in circles, and failures that nobody knows."""

from noface.selftest.catalogue.family import elsewhere, family, heeds, helpless, shown, stronger, thinking
from noface.selftest.scenario import Advice, By, Hint, Scenario, Step, Wrong

_OTHER_WAY = Advice(
    "diagnosis",
    '{"cause": "The label was guessed.", "recoverable": "yes", "strategy": "alternative_approach",'
    ' "alternative": "Write {code} in place of a guess."}',
)

NO_PROGRESS = family(
    "NO_PROGRESS",
    Scenario("the diagnosis of a repeated failure", (elsewhere("pytest"),), advice=(_OTHER_WAY,)),
    Scenario("a stronger model", (stronger("pytest"),)),
    Scenario("extended thinking", (thinking("jest"),), "npx jest"),
    Scenario("that it makes the same change again", (heeds("(?i)made the same change", Wrong.GUESS),)),
    Scenario(
        "the architect's other design",
        (elsewhere("unittest"),),
        "python -m unittest",
        advice=(Advice("architect", '{"assessment": "All of them guess.", "approach": "Write {code}."}'),),
    ),
    helpless("nothing helps", Step("never", form="go_test"), tool="go test"),
)

UNKNOWN = family(
    "UNKNOWN",
    Scenario("the diagnosis", (elsewhere("mystery"),), "desk", advice=(_OTHER_WAY,)),
    Scenario("what was printed", (shown("mystery"),), "desk"),
    Scenario(
        "the hint for such words",
        (elsewhere("mystery"),),
        "desk",
        hint=Hint("The other side of the stamp says {code}.", error_pattern="the stamp is on the other side"),
    ),
    Scenario(
        "the stronger model that the diagnosis asks for",
        (stronger("mystery"),),
        "desk",
        advice=(
            Advice(
                "diagnosis",
                '{"cause": "This takes more than the model has.", "recoverable": "yes", "strategy": "escalate",'
                ' "explanation": "Let a stronger one look."}',
            ),
        ),
    ),
    Scenario(
        "the pause that the diagnosis asks for",
        (Step("patient", By.PATIENCE, form="mystery_busy"),),
        "desk",
        advice=(
            Advice(
                "diagnosis",
                '{"cause": "The desk is being swept.", "recoverable": "yes", "strategy": "retry_same", "delay_s": 2.5}',
            ),
        ),
        priority=0,
    ),
    Scenario("a stronger model", (stronger("mystery"),), "desk"),
    helpless("nothing helps", Step("never", form="mystery"), tool="desk"),
    helpless(
        "the diagnosis finds it hopeless",
        Step("never", form="mystery"),
        tool="desk",
        advice=(
            Advice(
                "diagnosis",
                '{"cause": "The desk was sold.", "recoverable": "no", "strategy": "escalate", "explanation": "-"}',
            ),
        ),
        runs_max=1,
    ),
)
