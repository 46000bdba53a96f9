"""How compilers and parsers complain."""

from noface.selftest.forms.form import Form

FORMS = {
    "gcc": Form("""\
src/{name}.c: In function 'label':
src/{name}.c:12:14: error: expected '{clue}' before 'return'
   12 |   char *text return text;
      |              ^~~~~~
make: *** [Makefile:4: build/{name}.o] Error 1
""", code=2),
    "rustc": Form("""\
error: expected one of `!` or `::`, found `label`
  --> src/{clue}.rs:7:5
  |
7 |     lable label;
  |           ^^^^^ expected one of `!` or `::`

error: could not compile `labels` (lib) due to 1 previous error
""", code=101),
    "tsc": Form("""\
src/{name}.ts(9,17): error TS1005: '{clue}' expected.

Found 1 error in src/{name}.ts:9
""", code=2),
    "python_syntax": Form("""\
  File "src/{name}.py", line 8
    label = = "guess"
            ^
SyntaxError: invalid syntax ({clue})
"""),
    "javac": Form("""\
src/Label.java:14: error: '{clue}' expected
    String label = "guess"
                          ^
1 error
"""),
}  # fmt: skip
