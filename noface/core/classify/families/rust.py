"""Rust: cargo, rustc, clippy, rustfmt, nextest."""

# ruff: noqa: E501 - a pattern, and a line of real output, is kept in one piece

from noface.core.classify.kinds import ENV, LINT, RUNTIME, SYNTAX, TEST, TIME
from noface.core.classify.rules import Level, NameRule, Rule

RULES = (
    Rule(
        "rust.assert",
        TEST,
        ("assertion failed", "assertion `", "did not panic as expected", "panic did not contain expected string"),
        r"^(?:thread '.*' (?:\(\d+\) )?panicked at )?'?assertion (?:failed|`.*` failed|failed: )|note: test did not panic as expected|panic did not contain expected string",
        "thread 'tests::totals' panicked at 'assertion failed: `(left == right)`",
        level=Level.TRACEBACK,
    ),
    Rule(
        "rust.panic",
        RUNTIME,
        ("panicked at",),
        r"^thread '.*' (?:\(\d+\) )?panicked at (?!'?assertion)",
        "thread 'tests::totals' panicked at src/lib.rs:16:37:",
        level=Level.TRACEBACK,
        below=True,
    ),
    Rule(
        "rust.overflow",
        RUNTIME,
        ("has overflowed its stack", "(signal: "),
        r"^thread '.*' has overflowed its stack|process didn't exit successfully: .* \(signal: \d+",
        "thread 'tests::totals' has overflowed its stack",
        even_in_tests=True,
    ),
    Rule(
        "rust.error-code",
        SYNTAX,
        ("error[E",),
        r"^error\[E(?!0432|0433|0463)\d{4}\]: ",
        "error[E0308]: mismatched types",
        even_in_tests=True,
    ),
    Rule(
        "rust.crate",
        ENV,
        ("error[E0432]", "error[E0433]", "error[E0463]", "unresolved import", "can't find crate"),
        r"^error\[E04(?:32|33|63)\]: .*?(?:unresolved import|undeclared (?:crate or module|type)|unlinked crate|can't find crate for|cannot find (?:crate|module or crate)|use of unresolved module(?: or unlinked crate)?) `(?P<dep>\w+)",
        "error[E0432]: unresolved import `serde`",
        own_kind=SYNTAX,
        even_in_tests=True,
    ),
    Rule(
        "rust.own-path",
        SYNTAX,
        ("unresolved import `crate", "unresolved import `super", "unresolved import `self"),
        r"^error\[E0432\]: unresolved import `(?:crate|super|self)\b",
        "error[E0432]: unresolved import `crate::pricing`",
        even_in_tests=True,
    ),
    Rule(
        "cargo.manifest",
        SYNTAX,
        ("failed to parse manifest", "invalid TOML", "could not parse input as TOML", "TOML parse error"),
        r"^error: (?:failed to parse manifest|could not parse|invalid (?:TOML|type))|^Caused by:.*TOML|could not parse input as TOML",
        "error: failed to parse manifest at `/repo/Cargo.toml`",
    ),
    Rule(
        "cargo.dependency",
        ENV,
        (
            "no matching package",
            "failed to get `",
            "failed to load source",
            "unable to update",
            "Unable to update",
            "failed to select a version",
            "failed to download",
            "failed to fetch",
            "failed to query replaced source",
            "index unavailable",
            "attempting to make an HTTP request",
        ),
        r"^(?:error|Caused by|\s+).*(?:no matching package|failed to (?:get `|load source|download|fetch|query replaced source)|[Uu]nable to update|failed to select a version|attempting to make an HTTP request)|^error: no matching package",
        "error: no matching package named `serde` found",
    ),
    Rule(
        "cargo.command",
        ENV,
        (
            "no such command",
            "could not find `Cargo.toml`",
            "no test target named",
            "no bin target named",
            "no such subcommand",
            "did not match any packages",
            "is not installed for the",
            "rustup could not choose",
            "toolchain '",
        ),
        r"^error: (?:no such (?:sub)?command|could not find `Cargo\.toml`|no \w+ target named|package ID specification .* did not match|'\S+' is not installed for|rustup could not choose|toolchain '\S+' is not installed|manifest path|the package .* does not contain)",
        "error: no such command: `nextst`",
    ),
    Rule(
        "clippy.lint",
        LINT,
        ("clippy::", "implied by `-D warnings`", "`#[deny("),
        r"^\s*= note: `(?:#\[deny\()?(?:-D )?(?:clippy::|warnings)|^\s*= note: .*implied by `-D|^\s*= help: for further information visit https://rust-lang\.github\.io/rust-clippy",
        "   = note: `-D clippy::needless-return` implied by `-D warnings`",
        tools=("clippy", "cargo clippy", "clippy-driver", "cargo-clippy"),
        level=Level.DIAGNOSTIC,
    ),
    Rule(
        "rustfmt.diff",
        LINT,
        ("Diff in ",),
        r"^Diff in (?P<file>\S+?)(?: at line |:)(?P<line>\d+):",
        "Diff in /repo/src/lib.rs:15:",
    ),
    Rule(
        "rustdoc.lint",
        LINT,
        ("rustdoc::",),
        r"`(?:-D )?(?:#\[deny\()?rustdoc::",
        "   = note: `-D rustdoc::broken-intra-doc-links` implied by `-D warnings`",
        tools=("cargo doc", "doc", "rustdoc"),
    ),
    Rule(
        "nextest.timeout",
        TIME,
        ("TIMEOUT [", "TERMINATING ["),
        r"^\s*TIMEOUT \[ *[\d.>]+s\]",
        "     TIMEOUT [   1.005s] stock tests::waits",
        even_in_tests=True,
    ),
)

NAMES = (
    NameRule(
        "cargo.test",
        (" ... FAILED",),
        r"^test (?P<test>\S.*?)(?: - should panic)? \.\.\. FAILED",
        "test tests::totals ... FAILED",
    ),
    NameRule(
        "nextest.fail",
        ("FAIL [", "SIGABRT [", "SIGSEGV [", "TIMEOUT ["),
        r"^\s+(?:FAIL|SIG\w+|TIMEOUT) \[ *[\d.]+s\](?: \(.*?\))? \S+ (?P<test>\S+)$",
        "        FAIL [   0.003s] stock tests::totals",
    ),
)
