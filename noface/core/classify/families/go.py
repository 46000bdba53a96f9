"""Go: modules, linters, and the runners that wrap go test."""

# ruff: noqa: E501 - a pattern, and a line of real output, is kept in one piece

from noface.core.classify.kinds import ENV, LINT, SYNTAX
from noface.core.classify.rules import NameRule, Rule

RULES = (
    Rule(
        "go.mod-syntax",
        SYNTAX,
        ("errors parsing go.mod", "go.mod:", "go.work:"),
        r"^go: errors parsing go\.(?:mod|work)|^(?P<file>\S*go\.(?:mod|work)):(?P<line>\d+): ",
        "go: errors parsing go.mod:",
    ),
    Rule(
        "go.no-module",
        ENV,
        (
            "go.mod file not found",
            "cannot find main module",
            "no go files",
            "no Go files",
            "directory not found",
            "is not in your go.mod",
            "matched no packages",
            "go: no such tool",
            "unknown command",
        ),
        r"go\.mod file not found|cannot find main module|no Go files in|directory not found|^go: no such tool|^go \S+: unknown command|lstat \S+: no such file or directory|outside main module or its selected",
        "go: go.mod file not found in current directory or any parent directory; see 'go help modules'",
    ),
    Rule(
        "go.package",
        ENV,
        (
            "no required module provides package",
            "is not in GOROOT",
            "is not in std",
            "cannot find package",
            "cannot find module providing package",
            "missing go.sum entry",
            "no matching versions",
            "module lookup disabled",
            "unrecognized import path",
        ),
        r"(?:no required module provides package|package|cannot find package|cannot find module providing package|missing go\.sum entry for module providing package) \"?(?P<dep>[\w./~@-]+)|module lookup disabled|unrecognized import path|no matching versions",
        "stock.go:3:8: no required module provides package github.com/google/uuid; to add it:",
        own_kind=SYNTAX,
        even_in_tests=True,
    ),
    Rule(
        "go.proxy",
        ENV,
        ("dial tcp", "proxy.golang.org", "GOFLAGS=-mod", "GOPROXY"),
        r"^go: .*(?:dial tcp|proxy|module lookup disabled|connection refused|i/o timeout)|^go: downloading .* failed",
        'go: example.com/x@v1.0.0: Get "http://127.0.0.1:9/x": dial tcp 127.0.0.1:9: connect: connection refused',
    ),
    Rule(
        "golangci.finding",
        LINT,
        ("(",),
        r"^(?P<file>[\w./-]+\.go):(?P<line>\d+):\d+: .* \((?:[a-z]+|SA\d+|S\d+|ST\d+|U\d+|QF\d+)\)$",
        "stock.go:12:2: ineffectual assignment to x (ineffassign)",
    ),
    Rule(
        "gofmt.diff",
        LINT,
        ("diff ", ".go.orig"),
        r"^(?:diff (?:-u )?(?P<file>\S+\.go)(?:\.orig)? )",
        "diff stock.go.orig stock.go",
        tools=("gofmt", "goimports", "gofumpt"),
    ),
    Rule(
        "go.wrong-version",
        ENV,
        ("requires go >=", "toolchain not available", "note: module requires Go"),
        r"requires go >= |toolchain not available|note: module requires Go",
        "go: go.mod requires go >= 1.22 (running go 1.19)",
    ),
)

NAMES = (
    NameRule("gotestsum.fail", ("=== FAIL: ",), r"^=== FAIL: \S+ (?P<test>\S+)", "=== FAIL: . TestTotal (0.00s)"),
    NameRule(
        "ginkgo.fail",
        ("[Fail]", "[FAIL]", "[PANICKED!]"),
        r"^\s*\[(?:Fail|FAIL|PANICKED!)\] (?P<test>.+)$",
        "[Fail] Cart [It] totals",
    ),
)
