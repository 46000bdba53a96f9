"""How linters, formatters and type checkers complain."""

from noface.selftest.forms.form import Form

FORMS = {
    "ruff": Form("""\
src/{name}.py:4:1: N816 Variable `guess` in global scope should be called `{clue}`
Found 1 error.
""", green="All checks passed!\n"),
    "eslint": Form("""\

/repo/src/{name}.js
  3:7  error  Identifier 'guess' must match '{clue}'  id-match

✖ 1 problem (1 error, 0 warnings)
""", green=""),
    "mypy": Form("""\
src/{name}.py:11: error: Incompatible return value type (got "guess", expected "{clue}")  [return-value]
Found 1 error in 1 file (checked 4 source files)
""", green="Success: no issues found in 4 source files\n"),
    "shellcheck": Form("""\

In scripts/{name}.sh line 6:
echo $guess
     ^----^ SC2154 (warning): guess is referenced but not assigned (did you mean '{clue}'?).

For more information:
  https://www.shellcheck.net/wiki/SC2154 -- guess is referenced but not assigned
""", green=""),
    "rubocop": Form("""\
Inspecting 4 files
..C.

Offenses:

src/{name}.rb:5:1: C: Naming/VariableName: Use {clue} for variable names.
guess = 1
^^^^^

4 files inspected, 1 offense detected
""", green="Inspecting 4 files\n....\n\n4 files inspected, no offenses detected\n"),
}  # fmt: skip
