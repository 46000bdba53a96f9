"""What all tests begin with: ordinary surroundings, the fixtures of a project, and nothing left at the end."""

import gc
import os
import random
import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings
from support.surroundings import take_ordinary_surroundings

take_ordinary_surroundings()  # before anything takes a copy of the environment

from support.git_ground import OPENED  # noqa: E402
from support.processes import alive  # noqa: E402
from support.project import Project  # noqa: E402

if TYPE_CHECKING:  # imported by the few tests that use it
    from support.cli_story import Story
    from support.github_server import GitHub

# The same examples each time: what a change breaks must not hide behind luck, nor fail what it did not touch.
# `pytest --hypothesis-profile=explore` draws new ones.
COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("same", derandomize=True, max_examples=60, **COMMON)
settings.register_profile("explore", max_examples=1000, **COMMON)
settings.load_profile("same")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--shuffle", metavar="SEED", help='run the tests in the order of this seed; "random" draws one')


def pytest_configure(config: pytest.Config) -> None:
    if config.option.shuffle == "random":  # xdist's workers find the seed in their environment: all need one order
        drawn = str(random.SystemRandom().randrange(10**6))
        config.option.shuffle = os.environ.setdefault("PYTEST_SHUFFLE_SEED", drawn)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffle the files, and the tests of each: what the tests of a file share is still made once."""
    if config.option.shuffle is not None:
        drawn = random.Random(config.option.shuffle)
        places = {path: drawn.random() for path in dict.fromkeys(item.path for item in items)}
        items.sort(key=lambda item: (places[item.path], drawn.random()))


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    """Leave the thousands of tests and modules that stay to the end out of every search for garbage."""
    gc.disable()


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.freeze()
    gc.enable()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.option.shuffle is not None:
        terminalreporter.write_line(f"In the order of --shuffle {config.option.shuffle}.")


@pytest.fixture
def token() -> Iterator[str]:
    """A token for the environment of a test's commands, of which nothing may be left at its end."""
    made = uuid.uuid4().hex
    yield made
    assert alive(made) == []


@pytest.fixture(autouse=True)
def no_git_left() -> Iterator[None]:
    yield
    while OPENED:
        OPENED.pop().close()


@pytest.fixture(scope="session")
def _blank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The beginning of every project's repository, made once: a person who has not committed anything yet."""
    blank = Project(tmp_path_factory.mktemp("blank"), tmp_path_factory.getbasetemp())
    blank.git("init", "-q", "-b", "main")
    blank.git("config", "user.name", "Ada")
    blank.git("config", "user.email", "ada@example.org")
    for sample in blank.path.glob(".git/hooks/*.sample"):
        sample.unlink()
    return blank.path


@pytest.fixture
def project(tmp_path: Path, _blank: Path) -> Iterator[Project]:
    shutil.copytree(_blank, tmp_path / "repo")
    made = Project(tmp_path / "repo", tmp_path)
    made.write("a.txt", "one\n")
    made.config()
    made.play(("*", 0, [{"write": "b.txt", "text": "done\n"}]))
    made.commit("first")
    yield made
    made.end()


@pytest.fixture
def night(project: Project) -> Iterator["Story"]:
    from support.cli_story import usual_night

    story = usual_night(project.path, project.git("rev-parse", "HEAD"))
    yield story
    story.close()


@pytest.fixture
def github(tmp_path: Path) -> Iterator["GitHub"]:
    """A GitHub on loopback; support/github_server.py says how it is used."""
    from support.github_server import GitHub

    made = GitHub(tmp_path / "github")
    yield made
    made.close()
    assert made.violations == []


@pytest.fixture(scope="session", autouse=True)
def _warm_noface() -> Iterator[None]:
    yield
    Project.warm.close()
