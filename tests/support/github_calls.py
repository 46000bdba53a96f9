"""Requests to the server of the tests once they were found sound, and what answers them: a function for an operation.

An operation needs a permission of the token ("issues=write") and a role of its user in the repository.
"""

from dataclasses import dataclass

from .github_check_views import Views
from .github_state import RefusedError, User

HANDLERS = {}
PAGE_DEFAULT, PAGE_MAX = 30, 100


@dataclass(frozen=True)
class Handler:
    answer: object
    permission: str
    role: str


def operation(name, permission="metadata=read", role="read"):
    def register(answer):
        HANDLERS[name] = Handler(answer, permission, role)
        return answer

    return register


@dataclass
class Answer:
    """An answer other than 200 with a JSON body."""

    status: int
    body: object = None
    headers: dict | None = None


@dataclass
class Listed:
    """A list that is answered in pages; `show` makes JSON of one element. `under` is the key that holds it, if any.

    `cursor` makes a text of an element's place: then the next page begins after that place, whatever has moved.
    """

    items: list
    show: object
    under: str = ""
    cursor: object = None


@dataclass
class Call:
    """A request that was found sound: who asks for what."""

    server: object
    user: User
    repository: object
    views: Views
    places: dict
    query: dict
    body: object

    def issue(self, name="issue_number"):
        return self.repository.issue(int(self.places[name]))

    def may(self, role):
        return self.repository.may(self.user.login, role)

    def needs(self, role, message="Must have admin rights to Repository."):
        if not self.may(role):
            raise RefusedError(403, message)
