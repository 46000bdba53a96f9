"""What a command names that only a person's checkout has: by path, test id and name, in many runners' ways."""

import pytest

from noface.integrity.not_on_main import Checkout, Lacking, lack_text, lacking, ways_to_commit

NEW = {
    "tests/test_login.py": "class TestLogin:\n    def test_ok(self):\n        assert 1\n",
    "src/login.test.ts": "it('takes a name', () => {})\n",
    "auth/auth_test.go": "package auth\n\nfunc TestLogin(t *testing.T) {}\n",
    "crates/core/tests/login.rs": "#[test]\nfn logs_in() {}\n",
    "src/test/java/shop/LoginTest.java": "class LoginTest { @Test void logsIn() {} }\n",
    "checks/login.sh": "exit 0\n",
    "spec/login_spec.rb": "it 'takes a name' do\n",
}
CHANGED = {
    "tests/test_a.py": ("def test_a():\n    pass\n", "def test_a():\n    pass\n\n\ndef test_discount():\n    pass\n"),
    "cart/cart_test.go": ("package cart\n", "package cart\n\nfunc (s *S) TestDiscount(t *testing.T) {}\n"),
    "web/package.json": ('{"scripts": {}}\n', '{"scripts": {\n  "check:login": "node x"\n}}\n'),
    "tox.ini": ("[tox]\n", "[tox]\n\n[testenv:signin]\ncommands = x\n"),
    "Makefile": ("all:\n", "all:\ncheck-login: all\n\t./x\n"),
    "src/lib.rs": ("fn main() {}\n", "fn main() {}\n#[test]\nfn adds_discount() {}\n"),
    "src/cart.test.js": ("", "test('adds the discount', () => {})\n"),
}
ON_MAIN = frozenset({*CHANGED, "src/a.py", "tests/__init__.py", "noface.toml"})
TEXTS = {**{path: ("", text) for path, text in NEW.items()}, **CHANGED}
CHECKOUT = Checkout(ON_MAIN, frozenset(NEW), TEXTS, frozenset(NEW), "main", "main")


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("pytest tests/test_login.py", ["tests/test_login.py"]),
        (".venv/bin/python -m pytest -q ./tests/test_login.py::TestLogin::test_ok", ["tests/test_login.py"]),
        ("pytest 'tests/test_a.py::test_discount[one-2]'", ["test_discount of tests/test_a.py"]),
        ("python -m unittest tests.test_login.TestLogin.test_ok", ["tests/test_login.py"]),
        ("cd tests && pytest test_login.py", ["tests/test_login.py"]),
        ("bash -c 'pytest tests/test_login.py'", ["tests/test_login.py"]),
        ("npx jest src/login.test.ts", ["src/login.test.ts"]),
        ("go test ./auth/...", ["auth"]),
        ("bundle exec rspec spec/login_spec.rb:12", ["spec/login_spec.rb"]),
        ("./checks/login.sh --fast", ["checks/login.sh"]),
        ("pytest tests/test_log*.py", ["tests/test_login.py"]),
        ("cd tests && pytest test_log*.py", ["tests/test_login.py"]),
        ("A=1 sh checks/login.sh; make all", ["checks/login.sh"]),
    ],
)
def test_what_only_the_checkout_has_is_found(command, what):
    found = [each.text for each in lacking(command, CHECKOUT)]
    assert found[: len(what)] == what


@pytest.mark.parametrize(
    "command",
    [
        "pytest",
        "pytest -q tests",
        "pytest tests/test_a.py::test_a",
        "pytest tests/test_a.py::test_refund",  # the worker's to write: the checkout has it not, either
        "pytest tests/test_refund.py",
        "pytest tests/test_*.py tests/test_refund*",
        "pytest -k refund --tb=short --maxfail=1",
        "python -m pytest tests/test_a.py -x",
        "python -m unittest discover -s tests",
        "npm test -- --run",
        "npx vitest run src/refund.test.ts",
        "go test ./...",
        "go test -race -count=1 -run TestRefund ./cart",
        "cargo test --all-features",
        "cargo test refunds",
        "make all test",
        "ruff check . && mypy",
        "node --test",
        "test -f docs/refund.md",
        "grep -q 'refund policy' README.md",
        "./gradlew check",
        "tox -e py312",
        "'unclosed",
        "",
    ],
)
def test_what_the_worker_shall_write_and_what_main_has_is_none(command):
    """How often it is wrong on honest work: none of these commands, beside a checkout that differs in 14 files."""
    assert lacking(command, CHECKOUT) == ()


def test_a_checkout_like_main_lacks_nothing():
    assert lacking("pytest tests/test_login.py", Checkout(ON_MAIN)) == ()


COMMIT = "git commit -m 'Add what the gates need' -- t.py"
SWITCH = "git switch main && git restore --source=login --staged --worktree -- t.py"


@pytest.mark.parametrize(
    ("dirty", "branch", "commands"),
    [
        (True, "main", (f"git add --force -- t.py && {COMMIT}",)),
        (True, "login", (f"git add --force -- t.py && {COMMIT}", f"{SWITCH} && {COMMIT}")),
        (False, "login", (f"{SWITCH} && {COMMIT}",)),
        (False, "main", ("git push",)),
    ],
)
def test_the_commands_put_it_on_main(dirty, branch, commands):
    things = (Lacking("t.py"), Lacking("t.py", "test_a"))
    new = frozenset({"t.py"})
    checkout = Checkout(new=new, dirty=new if dirty else frozenset(), branch=branch)
    if dirty:  # a file that git ignores is not among those that differ
        assert ways_to_commit(things, Checkout(branch=branch)) == commands
    assert ways_to_commit(things, checkout) == commands
    assert lack_text(things, checkout) == "accept names t.py, test_a of t.py: it is in your checkout, not on main"
