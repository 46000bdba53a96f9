"""Networks, daemons and ports that a gate needs and does not find."""

# ruff: noqa: E501 - a pattern, and a line of real output, is kept in one piece

from noface.core.classify.kinds import ENV
from noface.core.classify.rules import Level, Rule

RULES = (
    Rule(
        "network.tool",
        ENV,
        (
            "Could not resolve host",
            "Connection refused",
            "Connection timed out",
            "Temporary failure",
            "unable to resolve",
            "Failed to connect",
            "Name or service not known",
            "Network is unreachable",
            "Could not resolve",
            "no route to host",
        ),
        r"^(?:curl: \(\d+\)|wget: |fatal: unable to access|ssh: |ssh: connect to|nc: |ping: |psql: |mysql: |rsync: |E: |W: |Err:|ERROR \d+ \(|telnet: |redis-cli|Could not connect to Redis|pg_isready|http: error|warning: spurious network error|error: failed to (?:download|get|fetch)|.*dial tcp .*(?:connection refused|no such host|i/o timeout))",
        "curl: (6) Could not resolve host: artifacts.example.com",
    ),
    Rule(
        "network.dial",
        ENV,
        (
            "dial tcp",
            "lookup ",
            "spurious network",
            "Could not resolve host",
            "error trying to connect",
            "Failed to establish a new connection",
        ),
        r"dial tcp \S+ ?.*(?:connection refused|no such host|i/o timeout|server misbehaving|unreachable)|lookup \S+: no such host|\[6\] (?:Couldn't|Could not) resolve host|Could not resolve host: \S+\)|error trying to connect: |failed to download from|Failed to establish a new connection",
        'go: example.com/x@v1: Get "https://proxy": dial tcp: lookup proxy: no such host',
    ),
    Rule(
        "docker.daemon",
        ENV,
        ("docker daemon", "Docker daemon", "docker.sock", "podman.sock"),
        r"(?i)cannot connect to the docker daemon|is the docker daemon running|docker daemon is not running|error during connect|connect to podman|docker\.sock: connect: ",
        "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?",
    ),
    Rule(
        "service.down",
        ENV,
        (
            "could not connect to server",
            "connection to server",
            "Can't connect to",
            "Could not connect to",
            "server selection timed out",
        ),
        r"^(?:psql: error: |pg_\w+: error: |mysql\w*: |ERROR \d+ \(\w+\): )?(?:.*could not connect to server|.*connection to server (?:on socket|at) .* failed|.*Can't connect to (?:local )?(?:MySQL|MariaDB)|Could not connect to Redis at)",
        'psql: error: connection to server on socket "/run/pg/.s.PGSQL.5432" failed: No such file or directory',
    ),
    Rule(
        "port.taken",
        ENV,
        ("ddress already in use", "EADDRINUSE", "port is already allocated"),
        r"^(?!.*(?:assert|expect)).*(?:[Aa]ddress already in use|EADDRINUSE|port is already allocated)",
        "listen tcp :8080: bind: address already in use",
        level=Level.TRACEBACK,
    ),
    Rule(
        "git.missing",
        ENV,
        ("fatal: not a git repository", "fatal: bad revision", "unknown revision"),
        r"^fatal: (?:not a git repository|bad revision|ambiguous argument)",
        "fatal: not a git repository (or any of the parent directories): .git",
    ),
)
