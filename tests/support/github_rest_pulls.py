"""What the server of the tests answers to the operations on pull requests, checks, workflows' jobs and refs.

Of GraphQL it knows what REST lacks: enablePullRequestAutoMerge, which threads are resolved, who edited an issue.
"""

import re
from fnmatch import fnmatch

from .github_calls import Answer, Listed, operation
from .github_state import Mail, RefusedError, not_found
from .github_views import stamp


def _pull(call):
    call.repository.look()
    return call.repository.pull(int(call.places["pull_number"]))


@operation("pulls/list", "pull_requests=read")
def _pulls(call):
    call.repository.look()
    query = call.query
    state, owner = query.get("state", "open"), call.repository.owner.login
    found = [
        each
        for each in call.repository.pulls
        if state in {"all", each.state}
        and query.get("head") in {None, f"{owner}:{each.pull.head}"}
        and query.get("base") in {None, each.pull.base}
    ]
    key = "updated_at" if query.get("sort") == "updated" else "created_at"
    newest_first = query.get("direction", "asc" if "sort" in query and key == "updated_at" else "desc") == "desc"
    found.sort(key=lambda each: (getattr(each, key), each.number), reverse=newest_first)
    return Listed(found, call.views.simple_pull)


@operation("pulls/create", "pull_requests=write", "write")
def _create(call):
    body = call.body
    if call.user.login == "github-actions[bot]" and not call.repository.actions_propose:
        raise RefusedError(403, "GitHub Actions is not permitted to create or approve pull requests.")
    fields = {"body": body.get("body"), "draft": body.get("draft", False)}
    made = call.repository.open_pull(call.user, body["title"], body["head"], body["base"], **fields)
    return Answer(201, call.views.pull(made))


@operation("repos/get-branch-rules")
def _rules_of_branch(call):
    found = [rule for branches, rule in call.repository.rules if fnmatch(call.places["branch"], branches)]
    return Listed(found, lambda rule: _rule_view(call, rule))


def _rule_view(call, rule):
    of = {"ruleset_id": rule["ruleset_id"], "ruleset_source": call.repository.full_name}
    of |= {"ruleset_source_type": "Repository", "type": rule["type"]}
    return {**of, "parameters": rule["parameters"]} if rule["parameters"] else of


@operation("repos/get-repo-ruleset")
def _ruleset(call):
    wanted = int(call.places["ruleset_id"])
    rule = next((rule for _, rule in call.repository.rules if rule["ruleset_id"] == wanted), None)
    if rule is None or rule["bypass"] is None:
        raise not_found()
    named = {"id": wanted, "name": "branches", "target": "branch", "source_type": "Repository"}
    named |= {"source": call.repository.full_name, "enforcement": "active"}
    return {**named, "current_user_can_bypass": rule["bypass"]}


@operation("pulls/get", "pull_requests=read")
def _get(call):
    return call.views.pull(_pull(call))


@operation("pulls/update", "pull_requests=write", "write")
def _update(call):
    issue = _pull(call)
    fields = {key: value for key, value in call.body.items() if key in {"title", "body", "state"}}
    if fields.get("state") == "open" and issue.pull.merged_at:
        raise RefusedError(422, "Validation Failed", [{"resource": "PullRequest", "field": "state", "code": "invalid"}])
    call.repository.edit(issue, call.user, **fields)
    return call.views.pull(issue)


@operation("pulls/list-reviews", "pull_requests=read")
def _reviews(call):
    number = _pull(call).number
    return Listed([each for each in call.repository.reviews.values() if each.number == number], call.views.review)


@operation("pulls/list-review-comments", "pull_requests=read")
def _review_comments(call):
    number = _pull(call).number
    found = [each for each in call.repository.review_comments.values() if each.number == number]
    return Listed(found, call.views.review_comment)


@operation("pulls/create-reply-for-review-comment", "pull_requests=write")
def _reply(call):
    issue, first = _pull(call), call.repository.review_comments.get(int(call.places["comment_id"]))
    if first is None or first.number != issue.number or first.reply_to is not None:
        raise not_found()  # a reply is made to a thread's first comment
    return Answer(201, call.views.review_comment(call.repository.reply(issue, call.user, first, call.body["body"])))


@operation("pulls/request-reviewers", "pull_requests=write", "write")
def _request(call):
    issue = _pull(call)
    for login in call.body.get("reviewers", ()):
        if not call.repository.may(login, "read") or login not in call.repository.roles:
            raise RefusedError(
                422,
                "Reviews may only be requested from collaborators. One or more of the users or teams you specified is "
                f"not a collaborator of the {call.repository.full_name} repository.",
            )
        if login == issue.user.login:
            raise RefusedError(422, "Review cannot be requested from pull request author.")
        user = call.server.user(login)
        if user not in issue.pull.requested:
            issue.pull.requested.append(user)
            call.repository.happened(issue, "review_requested", call.user)
            call.repository.mails.append(Mail(login, issue.number, "review requested"))
    return Answer(201, call.views.simple_pull(issue))


# Checks, statuses, jobs.


def _commit(call, name="ref"):
    found = call.repository.bare.commit(call.places[name])
    if found is None:
        raise RefusedError(422, f"No commit found for SHA: {call.places[name]}")
    return found


@operation("checks/list-for-ref", "checks=read")
def _checks(call):
    found = call.repository.checks_of(_commit(call), newest=call.query.get("filter", "latest") == "latest")
    status, name = call.query.get("status"), call.query.get("check_name")
    found = [each for each in found if status in {None, each.status} and name in {None, each.name}]
    return Listed(found, call.views.check_run, under="check_runs")


def _check_run(call, name):
    found = call.repository.check_runs.get(int(call.places[name]))
    if found is None:
        raise not_found()
    return found


@operation("checks/get", "checks=read")
def _check(call):
    return call.views.check_run(_check_run(call, "check_run_id"))


@operation("checks/list-annotations", "checks=read")
def _annotations(call):
    return Listed(list(_check_run(call, "check_run_id").annotations), call.views.annotation)


@operation("repos/get-combined-status-for-ref", "statuses=read")
def _combined(call):
    return call.views.combined(_commit(call))


def _job_of(call):
    found = _check_run(call, "job_id")
    if found.app != "github-actions":
        raise not_found()
    return found


@operation("actions/list-workflow-runs-for-repo", "actions=read")
def _runs(call):
    wanted = call.query.get("head_sha")
    found = [each for each in call.repository.check_runs.values() if each.app == "github-actions"]
    return Listed([each for each in found if wanted in {None, each.sha}], call.views.run, under="workflow_runs")


@operation("actions/list-jobs-for-workflow-run", "actions=read")
def _jobs(call):
    run = int(call.places["run_id"])
    found = [each for each in call.repository.check_runs.values() if each.run == run and each.app == "github-actions"]
    return Listed(found, call.views.job, under="jobs")


@operation("actions/download-job-logs-for-workflow-run", "actions=read")
def _log(call):
    """Send on to where the log is for a minute: another host, which needs no token."""
    job = _job_of(call)
    if job.log is None:  # a job that runs, or a log that was deleted
        raise not_found()
    return Answer(302, None, {"Location": call.server.log_url(call.repository, job)})


# Refs, branches and commits, read from the bare repository.


def graphql(server, user, body):
    """Answer a GraphQL request: errors come with status 200 there. An app's token has no user but this one."""
    query, variables = body["query"], body.get("variables", {})
    if "viewer" in query:
        return {"data": {"viewer": {"login": user.login}}}
    if "reviewThreads" in query or "userContentEdits" in query:
        return {"data": {"repository": _asked_of(server, user, query, variables)}}
    found = {key: re.search(rf"\b{key}:\s*\$(\w+)", query) for key in ("pullRequestId", "mergeMethod")}
    given = {key: variables[name[1]] for key, name in found.items() if name} or variables.get("input", {})
    if "enablePullRequestAutoMerge" not in query or "pullRequestId" not in given:
        raise AssertionError(f"the server of the tests does not know this GraphQL: {body}")
    wanted = given["pullRequestId"]
    for repository in server.repositories.values():
        for issue in repository.pulls:
            if wanted == f"PR_{issue.id}" and repository.may(user.login, "write"):
                try:
                    repository.enable_auto_merge(issue, user, given.get("mergeMethod", "MERGE").lower())
                except RefusedError as refused:
                    return _error("UNPROCESSABLE", refused.message)
                return {"data": {"enablePullRequestAutoMerge": {"clientMutationId": None}}}
    return _error("NOT_FOUND", f"Could not resolve to a node with the global id of '{wanted}'.")


def _asked_of(server, user, query, variables):
    """Answer a question about one pull request's threads, or one issue's edits."""
    repository = server.repositories.get(f"{variables['owner']}/{variables['name']}")
    if repository is None or not repository.may(user.login, "read"):
        return None
    issue = repository.issues.get(variables["number"])
    if "reviewThreads" in query:
        web = f"{server.web}/{repository.full_name}/pull/{variables['number']}"
        firsts = [
            each
            for each in repository.review_comments.values()
            if each.number == issue.number and each.reply_to is None
        ]
        nodes = [
            {
                "isResolved": each.id in repository.resolved,
                "comments": {"nodes": [{"url": f"{web}#discussion_r{each.id}"}]},
            }
            for each in firsts
        ]
        return {
            "pullRequest": {"reviewThreads": {"pageInfo": {"hasNextPage": False, "endCursor": None}, "nodes": nodes}}
        }
    edits = [{"editedAt": stamp(at), "editor": {"login": by.login}} for at, by in reversed(issue.edits)]
    return {"issue": {"userContentEdits": {"nodes": edits}}}


def _error(kind, message):
    path = ["enablePullRequestAutoMerge"]
    error = {"type": kind, "path": path, "locations": [{"line": 1, "column": 10}], "message": message}
    return {"data": {"enablePullRequestAutoMerge": None}, "errors": [error]}
