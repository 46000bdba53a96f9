"""Providers that are away for minutes or hours: nothing is blocked, one probe asks for all, everything lands after it.

Each story is a run whose clock goes fast (support/clocked_run); its workers ask a provider that is away until a time.
"""

import json
from collections import Counter

import pytest
from support.clocked_run import clocked
from support.spending import result

WORKER = """\
echo "$NOFACE_ISSUE_ID {name} $(cat {folder}/slept)" >> {folder}/calls
if test "$(cat {folder}/slept)" -lt {until}; then echo '529 overloaded' >&2; exit 75; fi
echo done > "$NOFACE_ISSUE_ID.txt"
"""
EXIT_75 = "echo '529 overloaded' >&2; exit 75"
AWAY_S = 2400


def providers(project, retry="", run="", workers=1, **away_s):
    """Models `small` (tier 1) and `big` (tier 2), or whatever `away_s` names: plain commands whose provider is away."""
    entries = []
    for name, until in away_s.items():
        script = project.folder / f"{name}.sh"
        script.write_text(WORKER.format(name=name, folder=project.folder, until=until))
        tier = 2 if name == "big" else 1
        entries.append(f'[models.{name}]\nagent = "command"\ncommand = "sh {script}"\ntier = {tier}\n')
    project.write(
        "noface.toml",
        '[[gates]]\nname = "check"\ncommand = "test -e a.txt"\ncanary = false\n'
        f'{"".join(entries)}[retry]\ndefault_model = "small"\n{retry}'
        f'[sandbox]\nkind = "none"\n[run]\nslots_dir = "{project.folder / "slots"}"\nworkers = {workers}\n{run}',
    )


def issues(project, count, **front):
    for number in range(1, count + 1):
        project.issue(number, **front)
    project.commit()


def calls(project):
    """(issue, model, seconds slept so far) of every call of a worker."""
    lines = (project.folder / "calls").read_text().splitlines()
    return [(issue, model, int(at)) for issue, model, at in (line.split() for line in lines)]


def times(project, model="small", before=AWAY_S):
    """When a model was called while its provider was away."""
    return [at for _, name, at in calls(project) if name == model and at < before]


def landed(project, count):
    assert project.statuses() == {str(number): "merged" for number in range(1, count + 1)}
    assert not any(attempt["charged"] for attempt in project.attempts("1")[:-1])


def test_an_outage_of_forty_minutes_blocks_nothing_and_one_probe_asks_for_all(project):
    providers(project, small=AWAY_S)
    issues(project, 3)
    done = clocked(project)
    assert done.returncode == 0, done.stdout + done.stderr
    landed(project, 3)
    probes = times(project)
    assert len(probes) == len(set(probes)), "one call for each wait"
    assert 4 <= len(probes) <= 20
    assert Counter(issue for issue, _, at in calls(project) if at >= AWAY_S) == {str(n): 1 for n in range(1, 4)}
    assert "small: overloaded until" in done.stdout
    assert "small answers again" in done.stdout
    assert "blocked" not in done.stdout


@pytest.mark.parametrize("said", ["Failed to authenticate. API Error: 401 OAuth token has expired", ""])
def test_a_login_that_works_again_and_a_program_that_has_not_asked_its_model_block_nothing(project, said):
    """A token that is renewed in a minute, and a program that ends well without having asked anybody."""
    providers(project, small=45, workers=2)
    script, config = project.folder / "small.sh", project.path / "noface.toml"
    if said:
        script.write_text(script.read_text().replace(EXIT_75, f"echo '{said}' >&2; exit 1"))
    else:
        begun = json.dumps(result(0.1))
        ended = json.dumps(result(0) | {"result": "", "usage": {"input_tokens": 0, "output_tokens": 0}})
        worker = script.read_text().replace(EXIT_75, f"echo '{ended}'; exit 0")
        script.write_text(f"#!/bin/sh\n{worker}echo '{begun}'\n")
        script.chmod(0o755)
        config.write_text(
            config.read_text().replace(f'"command"\ncommand = "sh {script}"', f'"claude"\ncommand = "{script}"')
        )
    issues(project, 4)
    done = clocked(project)
    assert done.returncode == 0, done.stdout + done.stderr
    landed(project, 4)
    assert len(times(project, before=45)) <= 6


@pytest.mark.thorough
def test_after_the_longest_outage_the_run_ends_with_4_and_the_next_one_goes_on(project):
    providers(project, retry='outage_max = "30m"\nbackoff_base = "5m"\n', small=AWAY_S)
    issues(project, 2)
    done = clocked(project)
    assert done.returncode == 4, done.stdout + done.stderr
    assert "stopped at the limit outage_max" in " ".join(done.stdout.split()).lower()
    assert max(times(project)) <= 1800
    assert set(project.statuses().values()) <= {"ready", "waiting"}
    again = clocked(project)
    assert again.returncode == 0, again.stdout + again.stderr
    landed(project, 2)


ENDINGS = {
    "limited": "requests.exceptions.HTTPError: 429 Client Error: Too Many Requests for url: https://api.acme.io/v1",
    "away": "curl: (22) The requested URL returned error: 503",
    "network": "Error: connect ETIMEDOUT 10.0.0.1:443",
}


@pytest.mark.thorough
def test_a_plain_command_that_ends_with_its_provider_s_error_waits_for_it_like_any_other_agent(project):
    """However often, and charged to nobody; what it prints on its way is no such end (test_outside_causes)."""
    providers(project, small=0)
    text = (project.path / "noface.toml").read_text()
    for number, (name, says) in enumerate(ENDINGS.items(), start=1):
        script = project.folder / f"{name}.sh"
        ends = f"echo '{says}' >&2; exit 1"
        script.write_text(WORKER.format(name=name, folder=project.folder, until=AWAY_S).replace(EXIT_75, ends))
        text += f'[models.{name}]\nagent = "command"\ncommand = "sh {script}"\ntier = {number + 3}\n'
        project.issue(number, model=name)
    project.write("noface.toml", text)
    project.commit()
    done = clocked(project)
    assert done.returncode == 0, done.stdout + done.stderr
    landed(project, 3)
    for number, kind in enumerate(("RATE_LIMITED", "OVERLOADED", "NETWORK"), start=1):
        *waited, last = project.attempts(str(number))
        assert last["outcome"] == "PASSED"
        assert {(each["outcome"], each["charged"]) for each in waited} == {(kind, False)}
        assert 3 <= len(waited) <= 20, "growing pauses"


@pytest.mark.thorough
def test_who_retries_an_issue_has_its_provider_tried_at_once_and_by_one_attempt(project):
    providers(project, retry='backoff_base = "1h"\n', small=AWAY_S, big=AWAY_S, workers=2)
    project.issue(1, model="big")
    project.issue(2)
    project.issue(3)
    project.commit()
    (project.folder / "slept").write_text("0")
    (project.folder / "calls").touch()

    def called():
        before = len(calls(project))
        project.run("--once", code=3)
        return [(issue, model) for issue, model, _ in calls(project)[before:]]

    assert sorted(called()) == [("1", "big"), ("2", "small")]
    assert called() == [], "nobody asks before the time"
    project.noface("retry", "2")
    assert called() == [("2", "small")], "one attempt asks, and not the other provider"
    assert called() == []
    (project.folder / "slept").write_text(str(AWAY_S))
    project.noface("retry", "3")  # it has not been tried itself: it waits for a provider all the same
    assert called() == [("3", "small")]
    assert [each["id"] for each in project.shown("retry", "--all")["retry"]] == ["1"]
    project.run()
    assert set(project.statuses().values()) == {"merged"}


DENIED = {"permission_denials": [{"tool_name": "Edit", "tool_use_id": "t", "tool_input": {"file_path": "a.txt"}}]}


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("", '[models.small] settings = "none"'),
        ('permissions = "workspace"', '[models.small] permissions = "full"'),
        ('tools = ["read", "run"]', '"edit" among [models.small] tools'),
    ],
)
def test_an_agent_that_its_own_configuration_lets_not_write_is_asked_once_in_a_run_for_nothing(project, more, said):
    providers(project, small=0)
    script, config = project.folder / "small.sh", project.path / "noface.toml"
    told = json.dumps(result(0.1) | DENIED)
    script.write_text(f"#!/bin/sh\ncat > /dev/null\necho 1 >> {project.folder}/calls\necho '{told}'\n")
    script.chmod(0o755)
    entry = f'"claude"\ncommand = "{script}"\n{more}'
    config.write_text(config.read_text().replace(f'"command"\ncommand = "sh {script}"', entry))
    issues(project, 3)
    out = project.run(code=3)
    assert said in out
    assert (project.folder / "calls").read_text() == "1\n"
    assert [each["charged"] for each in project.attempts("1")] == [False]
    assert said in project.noface("blocked", "1").stdout.replace("\n    ", " ")
