"""Why ssh has ended is read from its exit code and its last words."""

from support.cases import cases

from noface.extras.hosts.ssh import COMMAND, reason_of

AT_WORK = [
    ((255, "Timeout, server 192.0.2.7 not responding."), "the connection to bigbox was cut"),
    ((255, "client_loop: send disconnect: Broken pipe"), "the connection to bigbox was cut"),
    ((255, ""), "noface on bigbox was killed"),
    ((137, ""), "noface on bigbox was killed"),
    ((None, ""), "noface on bigbox was killed"),
    ((1, "noface: something"), "noface on bigbox has ended with code 1 (“noface: something”)"),
]
AT_ONCE = [
    ((255, "ssh: connect to host b port 22: Connection timed out"), "bigbox cannot be reached"),
    ((255, "ssh: connect to host b port 22: No route to host"), "bigbox cannot be reached"),
    ((255, "b@b: Permission denied (publickey)."), "does not accept your login"),
    ((255, "Host key verification failed."), "the key of bigbox is not known here"),
    ((255, "@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\nHost key verification failed."), "shows another key"),
    ((255, "a word that nobody knows"), "ended at once (exit code 255) (“a word that nobody knows”)"),
    ((127, "sh: 1: noface: not found"), "bigbox has no `noface` on its PATH"),
    ((126, "sh: 1: noface: Permission denied"), "`noface` cannot be run on bigbox"),
    ((1, "Permission denied, says a program there"), "ended at once (exit code 1)"),
]


@cases(("ended", "message"), AT_WORK)
def test_why_a_host_at_work_is_gone(ended, message):
    code, words = ended
    assert message in reason_of("bigbox", COMMAND, code, words.splitlines(), joined=True).message


@cases(("ended", "message"), AT_ONCE)
def test_why_a_host_never_joined(ended, message):
    code, words = ended
    reason = reason_of("bigbox", COMMAND, code, words.splitlines(), joined=False)
    assert message in reason.message
    assert reason.hint
