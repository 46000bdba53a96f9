""".NET and Mono."""

# ruff: noqa: E501 - a pattern, and a line of real output, is kept in one piece

from noface.core.classify.kinds import ENV, NONE, RUNTIME, SYNTAX, TEST
from noface.core.classify.rules import Level, NameRule, Rule

RULES = (
    Rule(
        "dotnet.restore",
        ENV,
        (
            "NU1101",
            "NU1102",
            "NU1301",
            "MSB1009",
            "MSB1003",
            "MSB1001",
            "Could not execute because",
            "No .NET SDKs were found",
            "A compatible .NET SDK",
            "CS0006",
            "CS2001",
            "MSB4236",
        ),
        r"\b(?:NU1101|NU1102|NU1301|MSB1009|MSB1003|MSB1001|MSB4236|CS0006|CS2001)\b|Could not execute because|No \.NET SDKs were found|A compatible \.NET SDK",
        "/repo/x.csproj : error NU1101: Unable to find package Foo.",
    ),
    Rule(
        "msbuild.project",
        SYNTAX,
        ("MSB4025", "MSB4067", "MSB4068", "MSB4066"),
        r"\bMSB4(?:025|067|068|066)\b",
        "/repo/x.csproj(3,5): error MSB4025: The project file could not be loaded.",
    ),
    Rule(
        "dotnet.assert",
        TEST,
        ("Assert.", "Expected: ", "  But was: "),
        r"^\s*(?:Assert\.\w+(?:\(\))? (?:Failure|failed)|Assert\.\w+ failed|But was: )",
        "   Assert.Equal() Failure: Values differ",
        level=Level.TRACEBACK,
        only_in_tests=True,
    ),
    Rule(
        "dotnet.no-tests",
        NONE,
        ("No test is available", "No test matches the given", "No tests matched"),
        r"^No test (?:is available|matches the given)",
        "No test is available in /repo/bin/x.dll.",
    ),
    Rule(
        "mono.unhandled",
        RUNTIME,
        ("Unhandled Exception", "Unhandled exception"),
        r"^(?:\[ERROR\] FATAL UNHANDLED EXCEPTION: |Unhandled [Ee]xception[:.]\s*)(?P<exc>[\w.]+): (?P<msg>.*)",
        "Unhandled exception. System.DivideByZeroException: Attempted to divide by zero.",
        level=Level.TRACEBACK,
        below=True,
    ),
    Rule(
        "mono.assembly",
        ENV,
        ("Cannot open assembly", "Could not load file or assembly"),
        r"^Cannot open assembly '",
        "Cannot open assembly 'test.exe': No such file or directory.",
    ),
    Rule(
        "fsharp.error",
        SYNTAX,
        ("error FS",),
        r"(?P<file>\S+\.fsx?)\((?P<line>\d+),\d+\): error FS\d+",
        "stock.fs(12,5): error FS0039: The value 'totl' is not defined.",
    ),
)

NAMES = (
    NameRule(
        "dotnet.case",
        ("  Failed ", "  X "),
        r"^\s{2}(?:Failed|X) (?P<test>\S+)(?: \[.*\])?$",
        "  Failed Shop.CartTest.Totals [5 ms]",
    ),
)
