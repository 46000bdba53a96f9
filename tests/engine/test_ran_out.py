"""What ran out is named with what was used and what is allowed, to the next worker and to the person (P1)."""

from support.claude_program import claude

TOO_LONG = "Prompt is too long \u00b7 the request is ~205213 tokens (limit 200000) but this conversation is only ~159"


def test_a_context_that_is_full_is_named_with_usage_and_limit(project):
    claude(project, ("1", 0, [{"too_long": TOO_LONG}]))
    project.run(code=3)
    first, second, *_ = project.attempts("1")
    failure = first["failure"]
    assert (failure["kind"], first["charged"]) == ("RESOURCE_EXHAUSTED", True)
    assert failure["ran_out"] == "ran out of context: 205,213 of 200,000 tokens"
    assert second["outcome"] == "RESOURCE_EXHAUSTED"
    amount = "205,213 of 200,000 tokens"
    assert amount in project.prompt("1", 2)
    assert amount in project.noface("show", "1").stdout
    assert "~205213 tokens (limit 200000)" in " ".join(project.noface("blocked", "1").stdout.split())
