"""What the server of the tests answers to the operations on pull requests, checks, workflows' jobs and refs.

Of GraphQL it knows what REST lacks: enablePullRequestAutoMerge, which threads are resolved, who edited an issue.
"""

import re
from fnmatch import fnmatch

from .github_calls import Answer, Listed, operation
from .github_openapi import NOWHERE, described
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


@operation("pulls/merge", "contents=write", "write")
def _merge(call):
    body = call.body or {}
    how = body.get("merge_method", "merge")
    texts = (body.get("commit_title"), body.get("commit_message"), body.get("sha"))
    made = call.repository.merge(_pull(call), call.user, how, *texts)
    return {"sha": made, "merged": True, "message": "Pull Request successfully merged"}


@operation("pulls/check-if-merged", "pull_requests=read")
def _merged(call):
    if _pull(call).pull.merged_at is None:
        raise not_found()
    return Answer(204)


@operation("pulls/list-commits", "pull_requests=read")
def _commits(call):
    pull = _pull(call).pull
    return Listed(call.repository.bare.commits(pull.base_sha, pull.head_sha), call.views.commit)


@operation("pulls/list-reviews", "pull_requests=read")
def _reviews(call):
    number = _pull(call).number
    return Listed([each for each in call.repository.reviews.values() if each.number == number], call.views.review)


@operation("pulls/create-review", "pull_requests=write")
def _review(call):
    states = {"APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED", "COMMENT": "COMMENTED"}
    comments = [(each["path"], each.get("line"), each["body"]) for each in call.body.get("comments", ())]
    state = states.get(call.body.get("event", ""), "PENDING")
    return call.views.review(call.repository.review(_pull(call), call.user, state, call.body.get("body", ""), comments))


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


@operation("pulls/list-review-comments-for-repo", "pull_requests=read")
def _all_review_comments(call):
    return Listed(list(call.repository.review_comments.values()), call.views.review_comment)


@operation("pulls/list-comments-for-review", "pull_requests=read")
def _comments_of_review(call):
    _pull(call)
    wanted = int(call.places["review_id"])
    found = [each for each in call.repository.review_comments.values() if each.review == wanted]
    return Listed(found, lambda each: call.views.review_comment(each, "review-comment"))


@operation("pulls/list-requested-reviewers", "pull_requests=read")
def _requested(call):
    return {"users": [call.views.user(each) for each in _pull(call).pull.requested], "teams": []}


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


@operation("pulls/remove-requested-reviewers", "pull_requests=write", "write")
def _unrequest(call):
    issue = _pull(call)
    issue.pull.requested = [each for each in issue.pull.requested if each.login not in call.body["reviewers"]]
    return call.views.simple_pull(issue)


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


@operation("repos/list-commit-statuses-for-ref", "statuses=read")
def _statuses(call):
    return Listed(call.repository.statuses_of(_commit(call)), call.views.status)


@operation("repos/create-commit-status", "statuses=write", "write")
def _set_status(call):
    sha = _commit(call, "sha")
    body = {"context": "default", **call.body}
    return Answer(201, call.views.status(call.repository.set_status(sha, call.user, **body)))


def _job_of(call):
    found = _check_run(call, "job_id")
    if found.app != "github-actions":
        raise not_found()
    return found


@operation("actions/get-job-for-workflow-run", "actions=read")
def _job(call):
    return call.views.job(_job_of(call))


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


@operation("git/get-ref", "contents=read")
def _ref(call):
    name = f"refs/{call.places['ref']}"
    found = call.repository.bare.refs().get(name)
    if found is None:
        raise not_found()
    return call.views.ref(name, found)


@operation("git/list-matching-refs", "contents=read")
def _refs(call):
    start = f"refs/{call.places['ref']}"
    found = [each for each in call.repository.bare.refs().items() if each[0].startswith(start)]
    return [call.views.ref(*each) for each in found]


@operation("git/create-ref", "contents=write", "write")
def _create_ref(call):
    name, sha = call.body["ref"], call.body["sha"]
    if name in call.repository.bare.refs():
        raise RefusedError(422, "Reference already exists")
    if call.repository.bare.commit(sha) is None:
        raise RefusedError(422, "Object does not exist")
    call.repository.bare.set(name, sha)
    return Answer(201, call.views.ref(name, sha))


@operation("git/delete-ref", "contents=write", "write")
def _delete_ref(call):
    name = f"refs/{call.places['ref']}"
    if name not in call.repository.bare.refs():
        raise RefusedError(422, "Reference does not exist")
    call.repository.bare.delete(name)
    return Answer(204)


@operation("repos/get-branch", "contents=read")
def _branch(call):
    name = call.places["branch"]
    commit = call.repository.bare.branch(name)
    if commit is None:
        raise RefusedError(404, "Branch not found")
    links = {"self": f"{call.views.api}/branches/{name}", "html": f"{call.views.web}/tree/{name}"}
    return described(
        "branch-with-protection",
        name=name,
        commit=call.views.commit(commit),
        protected=False,
        protection={"enabled": False},
        protection_url=NOWHERE,
        _links=links,
    )


@operation("repos/get-commit", "contents=read")
def _one_commit(call):
    return call.views.commit(_commit(call))


@operation("repos/list-pull-requests-associated-with-commit", "pull_requests=read")
def _pulls_of(call):
    call.repository.look()
    sha = call.places["commit_sha"]
    found = [each for each in call.repository.pulls if sha in {each.pull.head_sha, each.pull.merge_commit}]
    return Listed(found, call.views.simple_pull)


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
