"""What the server of the tests answers to the operations on issues, labels and users.

Each answer is a function below the operation's id in GitHub's description, with what it needs. An operation without
such a function answers 500, loudly.
"""

from .github_calls import Answer, Listed, operation
from .github_openapi import described
from .github_state import RefusedError, not_found
from .github_views import stamp, user_view

NUMBERED_PAGES_MAX = 10
"""Where GitHub draws this line it does not say; some met it at page 11."""


def _sorted(items, query, default="created_at"):
    """Sort by `sort` and `direction`, newest first by default, and take what has changed at `since` or later."""
    since = query.get("since")
    key = {"created": "created_at", "updated": "updated_at"}.get(query.get("sort", ""), default)
    found = [each for each in items if since is None or stamp(each.updated_at) >= since]
    return sorted(
        found, key=lambda each: (getattr(each, key), each.id), reverse=query.get("direction", "desc") == "desc"
    )


@operation("users/get-authenticated")
def _me(call):
    if call.user.type == "Bot":
        raise RefusedError(403, "Resource not accessible by integration")
    at = stamp(call.server.epoch)
    user = user_view(call.user, call.views.root)
    whole = described("private-user", **user, created_at=at, updated_at=at)
    return {**whole, "two_factor_authentication": True}


@operation("repos/get")
def _repository(call):
    return call.views.whole_repository(call.user.login)


@operation("repos/get-collaborator-permission-level")
def _permission(call):
    call.needs("write", "Must have push access to view collaborator permission.")
    user = call.server.known_user(call.places["username"])
    role = call.repository.role(user.login)
    coarse = {"triage": "read", "maintain": "write"}.get(role, role)
    return {"permission": coarse, "role_name": role, "user": {**call.views.user(user), "role_name": role}}


# Issues. To the API a pull request is an issue, too.


@operation("issues/list-for-repo", "issues=read")
def _issues(call):
    query = call.query
    state, labels = query.get("state", "open"), [name.lower() for name in query.get("labels", "").split(",") if name]
    found = [
        each
        for each in _sorted(call.repository.issues.values(), query)
        if state in {"all", each.state}
        and set(labels) <= {label.name.lower() for label in each.labels}
        and query.get("creator") in {None, each.user.login}
        and query.get("assignee") in {None, "*", *(user.login for user in each.assignees)}
    ]
    if "after" not in query and int(query.get("page", 1)) > NUMBERED_PAGES_MAX:
        raise RefusedError(
            422,
            "Pagination with the page parameter is not supported for large datasets, please use cursor based pagination "
            "(after/before)",
        )
    key = "updated_at" if query.get("sort") == "updated" else "created_at"
    return Listed(found, call.views.issue, cursor=lambda issue: f"{getattr(issue, key):012}-{issue.id}")


@operation("issues/create", "issues=write")
def _create(call):
    fields = {key: value for key, value in call.body.items() if key in {"body", "labels", "assignees"}}
    if not call.may("write"):  # what only collaborators may set is passed over
        fields = {key: value for key, value in fields.items() if key == "body"}
    fields["labels"] = [each if isinstance(each, str) else each["name"] for each in fields.get("labels", ())]
    made = call.repository.open_issue(call.user, call.body["title"], **fields)
    return Answer(201, call.views.issue(made, whole=True))


@operation("issues/get", "issues=read")
def _get(call):
    return call.views.issue(call.issue(), whole=True)


@operation("issues/update", "issues=write")
def _update(call):
    issue = call.issue()
    own = {"title", "body", "state", "state_reason"}
    if issue.user is not call.user or set(call.body) - own:
        call.needs("triage")
    if issue.user is not call.user and set(call.body) & {"title", "body"}:
        call.needs("write")
    fields = dict(call.body)
    if "labels" in fields:
        fields["labels"] = [each if isinstance(each, str) else each["name"] for each in fields["labels"]]
    call.repository.edit(issue, call.user, **fields)
    return call.views.issue(issue, whole=True)


@operation("issues/list-events", "issues=read")
def _events(call):
    number = call.issue().number
    return Listed([each for each in call.repository.events if each.number == number], call.views.event)


# Comments: of an issue in the order they were made, of a repository as they are asked for.


@operation("issues/list-comments", "issues=read")
def _comments(call):
    since = call.query.get("since", "")
    found = call.repository.comments_of(call.issue().number)
    return Listed([each for each in found if stamp(each.updated_at) >= since], call.views.comment)


def _comment_of(call):
    found = call.repository.comments.get(int(call.places["comment_id"]))
    if found is None:
        raise not_found()
    return found


@operation("issues/create-comment", "issues=write")
def _comment(call):
    return Answer(201, call.views.comment(call.repository.comment(call.issue(), call.user, call.body["body"])))


@operation("issues/get-comment", "issues=read")
def _one_comment(call):
    return call.views.comment(_comment_of(call))


@operation("issues/update-comment", "issues=write")
def _edit_comment(call):
    comment = _comment_of(call)
    if comment.user is not call.user:
        call.needs("write")
    call.repository.edit_comment(comment, call.body["body"])
    return call.views.comment(comment)


def _reacted(call, about):
    made, new = call.repository.react(about.id, call.user, call.body["content"])
    whole = described(
        "reaction", id=made.id, node_id="REA_1", user=call.views.user(made.user), content=made.content,
        created_at=stamp(made.at),
    )  # fmt: skip
    return Answer(201 if new else 200, whole)


@operation("reactions/create-for-issue-comment", "issues=write")
def _react(call):
    return _reacted(call, _comment_of(call))


@operation("reactions/create-for-pull-request-review-comment", "pull_requests=write")
def _react_to_line(call):
    found = call.repository.review_comments.get(int(call.places["comment_id"]))
    if found is None:
        raise not_found()
    return _reacted(call, found)


# Labels.


def _names(body):
    given = body["labels"] if isinstance(body, dict) else body
    given = [given] if isinstance(given, str) else given
    return [each if isinstance(each, str) else each["name"] for each in given]


def _labels_of(call, issue):
    return [call.views.label(each) for each in issue.labels]


@operation("issues/get-label", "issues=read")
def _label(call):
    return call.views.label(call.repository.label(call.places["name"]))


@operation("issues/create-label", "issues=write", "write")
def _create_label(call):
    return Answer(201, call.views.label(call.repository.make_label(**call.body)))


@operation("issues/add-labels", "issues=write", "triage")
def _add_labels(call):
    call.repository.add_labels(call.issue(), call.user, _names(call.body))
    return _labels_of(call, call.issue())


@operation("issues/remove-label", "issues=write", "triage")
def _remove_label(call):
    call.repository.remove_label(call.issue(), call.user, call.places["name"])
    return _labels_of(call, call.issue())


# Sub-issues and dependencies: other issues are named by their id there, not by their number.


@operation("issues/list-sub-issues", "issues=read")
def _sub_issues(call):
    return Listed(call.issue().sub_issues, call.views.issue)


@operation("issues/list-dependencies-blocked-by", "issues=read")
def _blocked_by(call):
    return Listed(call.issue().blocked_by, call.views.issue)
