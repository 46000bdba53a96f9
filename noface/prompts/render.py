"""Fills in prompt templates: Jinja2 in its sandbox, since users may bring their own. Pure.

Whatever a template prints without a filter of `text` is printed through `line`, so that no text from issues, logs or
agents can pose as noface's words. Data is never read as a template.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from noface.prompts.data import PromptData, Situation
from noface.prompts.text import BYTES_A_TOKEN, Pieces, Prompt, code, fenced, fit, line, sentence, tidy, words
from noface.prompts.values import parts_of, values_of

if TYPE_CHECKING:
    from jinja2 import Environment

BUILT_IN = "noface/"
"""What stands before the name of noface's own template if a user's has the same name, to extend it."""


TOKENS_MAX = 50_000
"""The longest prompt: a quarter of the window that models have, so that work has room beside it."""


def render(
    situation: Situation, templates: Mapping[str, str], data: PromptData, tokens_max: int = TOKENS_MAX
) -> Prompt:
    """Return the prompt for a situation, of at most `tokens_max` tokens (four bytes) if its fixed parts leave room.

    `templates` are texts by file name. Raises jinja2.TemplateError for a faulty one.
    """
    template = environment(templates).get_template(situation.template)

    def draw(pieces: Pieces) -> str:
        return tidy(str(template.render(values_of(situation, data, pieces))))

    bytes_max = tokens_max * BYTES_A_TOKEN
    return fit(parts_of(data, 2 * bytes_max), draw, bytes_max)


def environment(templates: Mapping[str, str]) -> "Environment":
    return _environment(tuple(sorted(templates.items())))


@lru_cache(maxsize=4)
def _environment(templates: tuple[tuple[str, str], ...]) -> "Environment":
    from jinja2 import FunctionLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment
    from markupsafe import Markup

    sources = dict(templates)

    def load(name: str) -> tuple[str, str, Callable[[], bool]] | None:
        # The file name is what jinja2 puts into tracebacks: it tells a person where an error arose.
        return (sources[name], name, lambda: True) if name in sources else None

    def escaped(value: object) -> Markup:
        return value if isinstance(value, Markup) else Markup(line(value))  # noqa: S704 - it marks what is one line

    def marked(text: str) -> Markup:
        return Markup(text)  # noqa: S704 - there is no HTML here: it marks what has been through a filter

    made = ImmutableSandboxedEnvironment(
        loader=FunctionLoader(load),
        undefined=StrictUndefined,
        # There is no HTML: by it `finalize` can tell what has been through a filter, which alone is Markup.
        autoescape=True,
        finalize=escaped,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {
        "line": lambda *given: marked(line(*given)),
        "sentence": lambda *given: marked(sentence(*given)),
        "code": lambda *given: marked(code(*given)),
        "words": lambda *given: marked(words(*given)),
        "fenced": lambda *given: marked(fenced(*given)),
    }
    return made
