"""How programs die of an error that is no failed assertion."""

from noface.selftest.forms.form import Form

FORMS = {
    "python_trace": Form("""\
Traceback (most recent call last):
  File "tools/{name}.py", line 40, in <module>
    main()
  File "tools/{name}.py", line 22, in main
    return desk.place(label)
  File "src/desk.py", line 9, in place
    raise LookupError(text)
LookupError: no shelf for 'guess'; the shelf is called '{clue}'
"""),
    "node_trace": Form("""\
/repo/src/{clue}.js:18
    return shelf.place(label);
                 ^

TypeError: Cannot read properties of undefined (reading 'place')
    at place (/repo/src/{clue}.js:18:18)
    at main (/repo/src/{name}.js:4:3)
    at Object.<anonymous> (/repo/src/{name}.js:9:1)

Node.js v20.11.0
"""),
    "go_panic": Form("""\
panic: runtime error: index out of range [4] with length 4: shelf {clue}

goroutine 1 [running]:
main.place(...)
\t/repo/cmd/{name}.go:27
main.main()
\t/repo/cmd/{name}.go:11 +0x1d
exit status 2
""", code=2),
    "java_trace": Form("""\
Exception in thread "main" java.lang.IllegalStateException: label guess is not on shelf {clue}
\tat org.example.Desk.place(Desk.java:31)
\tat org.example.Main.main(Main.java:12)
"""),
    "ruby_trace": Form("""\
src/{name}.rb:12:in `fetch': key not found: "{clue}" (KeyError)
\tfrom src/{name}.rb:12:in `place'
\tfrom src/{name}.rb:20:in `<main>'
"""),
    "tried": Form("""\
Traceback (most recent call last):
  File "tools/{name}.py", line 22, in main
    return desk.place(label)
  File "src/desk.py", line 9, in place
    raise LookupError(text)
LookupError: the {guess} way does not lead to a shelf
"""),
    "disk_full": Form("""\
Traceback (most recent call last):
  File "tools/{name}.py", line 22, in main
    handle.write(page)
OSError: [Errno 28] No space left on device
"""),
    "database_away": Form("""\
psql: error: connection to server at "localhost" (127.0.0.1), port 5432 failed: Connection refused
\tIs the server running on that host and accepting TCP/IP connections?
""", code=2),
    "docker_away": Form("""\
Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?
"""),
    "module_missing": Form("""\
Traceback (most recent call last):
  File "tools/{name}.py", line 2, in <module>
    import requests
ModuleNotFoundError: No module named 'requests'
"""),
    "registry_away": Form("""\
npm error code ENOTFOUND
npm error syscall getaddrinfo
npm error errno ENOTFOUND
npm error network request to https://registry.npmjs.org/pad failed, reason: getaddrinfo ENOTFOUND registry.npmjs.org
npm error network This is a problem related to network connectivity.
"""),
    "mystery": Form("""\
label desk, slip 3 of 7
the stamp is on the other side; see {clue}
desk closed
""", code=3),
    "mystery_busy": Form("""\
label desk, slip 5 of 7
the desk is being swept
desk closed
""", code=3),
}  # fmt: skip
