"""What ran out is named with what was used and what is allowed, to the next worker and to the person (P1)."""

import json
import sys

import pytest
from support.cases import first_ones
from support.claude_program import claude

from noface.process.memory import MemoryGroup

TOO_LONG = "Prompt is too long \u00b7 the request is ~205213 tokens (limit 200000) but this conversation is only ~159"


@pytest.mark.thorough
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
    assert amount in project.noface("show", "1", "1").stdout
    why = json.loads(project.noface("show", "1", "1", "--json").stdout)["task_failure"]
    assert (why["resource"], why["usage"], why["limit"]) == ("context", 205_213, 200_000)
    assert "~205213 tokens (limit 200000)" in " ".join(project.noface("blocked", "1").stdout.split())


@pytest.mark.parametrize("greedy", first_ones(["worker", "gate"]))
def test_a_worker_beyond_its_memory_is_told_so(project, greedy):
    if (group := MemoryGroup.make("probe", 1 << 30)) is None:
        pytest.skip("noface may not make a control group for memory here")
    group.remove()
    eat = f"{sys.executable} -c 'bytearray(600_000_000)'"
    work = [{"write": "b.txt", "text": "b"}]
    project.config('[limits]\nmemory_max = "300MB"\n', gate=f"test ! -e b.txt || {eat}" if greedy == "gate" else "true")
    if greedy == "worker":
        toml = project.path / "noface.toml"
        scripted = f'agent = "scripted"\ncommand = "{project.script}"'
        toml.write_text(toml.read_text().replace(scripted, f'agent = "command"\ncommand = "{eat}"'))
    project.play(("1", 0, work))
    project.issue(1)
    project.commit()
    project.noface("run")
    first = project.attempts("1")[0]
    kind = "RESOURCE_EXHAUSTED" if greedy == "worker" else "RUNTIME_ERROR"
    assert (first["failure"]["kind"], first["charged"]) == (kind, True)
    assert first["failure"]["ran_out"] == (
        "ran out of memory: its limit is 300,000,000 bytes" if greedy == "worker" else ""
    )
    assert "killed by the kernel: it used more than [limits] memory_max allows" in project.prompt("1", 2)
