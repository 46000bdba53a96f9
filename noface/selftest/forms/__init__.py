"""What gates print, by name: the words of real tools, so that noface has to read them as it reads those."""

from noface.selftest.forms import compilers, crashes, linters, tests
from noface.selftest.forms.form import Form

FORMS: dict[str, Form] = {**tests.FORMS, **compilers.FORMS, **crashes.FORMS, **linters.FORMS}

__all__ = ["FORMS", "Form"]
