"""Finds what is wrong with prompt templates before they are needed: by reading them, and by trying them on samples.

The samples use every variable of every template, or hardly any.
"""

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from noface.data import document, table
from noface.model.actions import action_instruction
from noface.model.codec import decode
from noface.model.issue import Issue
from noface.model.protection import default_protected
from noface.model.taxonomy import FailureKind, instruction_for
from noface.prompts.data import PromptData, Situation
from noface.prompts.render import BUILT_IN, environment
from noface.prompts.text import whole
from noface.prompts.values import parts_of, values_of

if TYPE_CHECKING:
    from jinja2 import Environment, nodes


_READ_CHARS_MAX = 100_000


@dataclass(frozen=True, slots=True)
class TemplateFault:
    """What is wrong with a template, in which line (None: nobody knows), in words for a person."""

    template: str
    line: int | None
    message: str


def faults(templates: Mapping[str, str]) -> tuple[TemplateFault, ...]:
    """Return what is wrong: first syntax, then names; if these are sound, what fails when they are filled in."""
    made = environment(templates)
    trees: dict[str, nodes.Template] = {}
    problems: list[TemplateFault] = []
    for name, text in templates.items():
        read = _read(made, name, text)
        if isinstance(read, TemplateFault):
            problems.append(read)
        else:
            trees[name] = read
    # A block sees what its template, or one that this extends, imports or sets outside the blocks.
    bound = set(made.globals).union(*(_bound(tree) for tree in trees.values()))
    problems += [fault for name, tree in trees.items() for fault in _unknown(name, tree, set(templates), bound)]
    problems = problems or list(dict.fromkeys(fault for situation in Situation for fault in _tried(made, situation)))
    return tuple(sorted(problems, key=lambda fault: (fault.template, fault.line or 0)))


def variables(template: str) -> Mapping[str, str]:
    name = template.removeprefix(BUILT_IN)
    if name == "_parts.md.j2":
        return {}
    questions = {"_question.md.j2", *(situation.template for situation in Situation if situation.asks)}
    known: Mapping[str, str] = table("prompt_variables")["question" if name in questions else "worker"]
    return known


def suggestion(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.6)
    return f'; did you mean "{near[0]}"?' if near else ""


def _read(made: "Environment", name: str, text: str) -> "nodes.Template | TemplateFault":
    """Return a template's tree, or the wrong syntax or unknown filter in it; noface's own are known to compile."""
    from jinja2 import TemplateSyntaxError

    try:
        if not name.startswith(BUILT_IN):
            made.compile(text, name, name)
        return made.parse(text, name, name)
    except TemplateSyntaxError as error:
        return TemplateFault(name, error.lineno, str(error.message).rstrip("."))
    except RecursionError:
        return TemplateFault(name, None, "it is nested too deeply")


def _unknown(name: str, tree: "nodes.Template", templates: set[str], bound: set[str]) -> Iterator[TemplateFault]:
    from jinja2 import meta, nodes

    known = variables(name)
    for unknown in sorted(meta.find_undeclared_variables(tree) - set(known) - bound):
        line = min((node.lineno for node in tree.find_all(nodes.Name) if node.name == unknown), default=None)
        yield TemplateFault(name, line, f'there is no variable "{unknown}"{suggestion(unknown, known)}')
    for node in tree.find_all((nodes.Extends, nodes.Include, nodes.Import, nodes.FromImport)):
        wanted = getattr(getattr(node, "template", None), "value", None)
        if isinstance(wanted, str) and wanted not in templates:
            yield TemplateFault(name, node.lineno, f'there is no template "{wanted}"{suggestion(wanted, templates)}')


def _bound(tree: "nodes.Template") -> set[str]:
    from jinja2 import nodes

    names = {node.target for node in tree.find_all(nodes.Import)}
    for node in tree.find_all(nodes.FromImport):
        names |= {name if isinstance(name, str) else name[1] for name in node.names}
    return names | {name.name for assign in tree.find_all(nodes.Assign) for name in assign.find_all(nodes.Name)}


def _tried(made: "Environment", situation: Situation) -> Iterator[TemplateFault]:
    for data in samples():
        try:
            pieces = whole(parts_of(data, _READ_CHARS_MAX))
            made.get_template(situation.template).render(values_of(situation, data, pieces))
        except RecursionError:
            hint = f'"{BUILT_IN}{situation.template}" is noface\'s own'
            yield TemplateFault(situation.template, None, f"it extends or includes itself without end; {hint}")
        except Exception as error:  # noqa: BLE001 - a user's template can raise anything, and that is what is asked
            name, number = _place(error, situation.template)
            yield TemplateFault(name, number, f"{type(error).__name__}: {str(error).rstrip('.')}")


def _place(error: BaseException, template: str) -> tuple[str, int | None]:
    place: tuple[str, int | None] = (template, None)
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename.endswith(".md.j2"):
            place = (step.tb_frame.f_code.co_filename, step.tb_lineno)
        step = step.tb_next
    return place


@cache
def samples() -> tuple[PromptData, ...]:
    """Return what templates are tried on: all that a prompt can hold, some of it, and hardly anything."""
    given = decode(PromptData, document("prompt_sample"))
    full = replace(
        given,
        protected=(*default_protected(), *given.protected),
        instruction=instruction_for(FailureKind.TEST_FAILURE),
        strategy=action_instruction("RetryWithFeedback"),
    )
    middling = PromptData(full.issue, full.gates, earlier=full.earlier[-1:], patch=full.patch, answer_example="{}")
    least = PromptData(Issue(full.issue.id, full.issue.title), full.gates[:1], answer_example="{}")
    return full, middling, least
