"""What the server of the tests shows of its state: JSON as GitHub's description has it, seen by one user."""

from datetime import UTC, datetime

from .github_openapi import described


def stamp(at):
    return None if at is None else datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class TalkViews:
    """What people make in one repository: issues, pull requests, what is said of them. Addresses are below `api` and `web`."""

    def __init__(self, repository, api, web):
        self.repository = repository
        self.api = f"{api}/repos/{repository.full_name}"
        self.root = api
        self.web = f"{web}/{repository.full_name}"

    def user(self, user):
        return None if user is None else user_view(user, self.root)

    def label(self, label):
        return described(
            "label",
            id=label.id,
            url=f"{self.api}/labels/{label.name}",
            name=label.name,
            color=label.color,
            default=False,
            description=label.description,
        )

    def _said(self, each):
        return {
            "user": self.user(each.user),
            "author_association": self.repository.association(each.user),
            "created_at": stamp(each.created_at),
            "updated_at": stamp(each.updated_at),
        }

    def _common(self, issue):
        """What an issue and a pull request have alike."""
        return {
            **self._said(issue),
            "number": issue.number,
            "title": issue.title,
            "body": issue.body,
            "state": issue.state,
            "labels": [self.label(each) for each in issue.labels],
            "milestone": None,
            "assignee": self.user(issue.assignees[0]) if issue.assignees else None,
            "assignees": [self.user(each) for each in issue.assignees],
            "closed_at": stamp(issue.closed_at),
        }

    def issue(self, issue, *, whole=False):
        """Return an issue; `whole` as it is given alone: a list does not say who closed it."""
        url = f"{self.api}/issues/{issue.number}"
        blocking = [each for each in self.repository.issues.values() if issue in each.blocked_by] if whole else []
        done = sum(each.state == "closed" for each in issue.sub_issues)
        total = len(issue.sub_issues)
        fields = {
            **self._common(issue),
            "id": issue.id,
            "url": url,
            "html_url": f"{self.web}/{'pull' if issue.pull else 'issues'}/{issue.number}",
            "comments_url": f"{url}/comments",
            "events_url": f"{url}/events",
            "labels_url": f"{url}/labels{{/name}}",
            "repository_url": self.api,
            "state_reason": issue.state_reason,
            "locked": issue.locked,
            "comments": len(self.repository.comments_of(issue.number)),
            "sub_issues_summary": {
                "total": total,
                "completed": done,
                "percent_completed": 100 * done // total if total else 0,
            },
            "issue_dependencies_summary": {
                "blocked_by": sum(each.state == "open" for each in issue.blocked_by),
                "total_blocked_by": len(issue.blocked_by),
                "blocking": sum(each.state == "open" for each in blocking),
                "total_blocking": len(blocking),
            },
        }
        if issue.parent is not None:
            fields["parent_issue_url"] = f"{self.api}/issues/{issue.parent.number}"
        if whole:
            fields["closed_by"] = self.user(issue.closed_by)
        if issue.pull is not None:
            pull = f"{self.web}/pull/{issue.number}"
            fields["draft"] = issue.pull.draft
            fields["pull_request"] = {
                "url": f"{self.api}/pulls/{issue.number}",
                "html_url": pull,
                "diff_url": f"{pull}.diff",
                "patch_url": f"{pull}.patch",
                "merged_at": stamp(issue.pull.merged_at),
            }
        return described("issue", **fields)

    def comment(self, comment):
        kind = "pull" if self.repository.issues[comment.number].pull else "issues"
        return described(
            "issue-comment",
            **self._said(comment),
            id=comment.id,
            body=comment.body,
            url=f"{self.api}/issues/comments/{comment.id}",
            html_url=f"{self.web}/{kind}/{comment.number}#issuecomment-{comment.id}",
            issue_url=f"{self.api}/issues/{comment.number}",
        )

    def event(self, event):
        fields = {"label": {"name": event.label.name, "color": event.label.color}} if event.label else {}
        if event.assignee is not None:
            fields |= {"assignee": self.user(event.assignee), "assigner": self.user(event.actor)}
        if event.rename is not None:
            fields["rename"] = {"from": event.rename[0], "to": event.rename[1]}
        return described(
            "issue-event",
            id=event.id,
            url=f"{self.api}/issues/events/{event.id}",
            actor=self.user(event.actor),
            event=event.kind,
            commit_id=event.commit,
            created_at=stamp(event.at),
            **fields,
        )

    def _end(self, branch, commit):
        repository = self.repository
        return {
            "label": f"{repository.owner.login}:{branch}",
            "ref": branch,
            "sha": commit,
            "user": self.user(repository.owner),
            "repo": described("repository", **self._repository()),
        }

    def _repository(self):
        repository = self.repository
        still_open = sum(each.state == "open" for each in repository.issues.values())
        return {
            "id": repository.id,
            "name": repository.name,
            "full_name": repository.full_name,
            "owner": self.user(repository.owner),
            "private": repository.private,
            "visibility": "private" if repository.private else "public",
            "default_branch": repository.main,
            "url": self.api,
            "html_url": self.web,
            "clone_url": f"{self.web}.git",
            "has_issues": True,
            "open_issues": still_open,
            "open_issues_count": still_open,
            "created_at": stamp(repository.created_at),
            "updated_at": stamp(repository.created_at),
            "pushed_at": stamp(repository.created_at),
            "topics": [],
        }

    def small_repository(self):
        small, own = ("id", "name", "full_name", "owner", "private", "url", "html_url"), self._repository()
        return described("minimal-repository", **{key: own[key] for key in small})

    def whole_repository(self, login):
        """Return the repository as one login sees it: with what it may do there."""
        may = {"pull": "read", "triage": "triage", "push": "write", "maintain": "maintain", "admin": "admin"}
        return described(
            "full-repository",
            **self._repository(),
            allow_auto_merge=self.repository.allow_auto_merge,
            allow_merge_commit="merge" in self.repository.merge_methods,
            allow_squash_merge="squash" in self.repository.merge_methods,
            allow_rebase_merge="rebase" in self.repository.merge_methods,
            permissions={name: self.repository.may(login, role) for name, role in may.items()},
        )

    def simple_pull(self, issue):
        """Show a pull request as listings do; their description says that each label has a text."""
        fields = self._pull(issue)
        labels = [{**label, "description": label["description"] or ""} for label in fields["labels"]]
        return described("pull-request-simple", **{**fields, "labels": labels})

    def _pull(self, issue):
        pull, url = issue.pull, f"{self.api}/pulls/{issue.number}"
        web = f"{self.web}/pull/{issue.number}"
        auto = pull.auto_merge and {
            "enabled_by": self.user(pull.auto_merge[0]),
            "merge_method": pull.auto_merge[1],
            "commit_title": issue.title,
            "commit_message": "",
        }
        links = {
            "self": url,
            "html": web,
            "issue": f"{self.api}/issues/{issue.number}",
            "comments": f"{self.api}/issues/{issue.number}/comments",
            "review_comments": f"{url}/comments",
            "review_comment": f"{self.api}/pulls/comments{{/number}}",
            "commits": f"{url}/commits",
            "statuses": f"{self.api}/statuses/{pull.head_sha}",
        }
        return {
            **self._common(issue),
            "id": issue.id,
            "node_id": f"PR_{issue.id}",
            "url": url,
            "html_url": web,
            "diff_url": f"{web}.diff",
            "patch_url": f"{web}.patch",
            "issue_url": links["issue"],
            "comments_url": links["comments"],
            "_links": {name: {"href": link} for name, link in links.items()},
            "head": self._end(pull.head, pull.head_sha),
            "base": self._end(pull.base, pull.base_sha),
            "draft": pull.draft,
            "merged_at": stamp(pull.merged_at),
            "merge_commit_sha": pull.merge_commit,
            "auto_merge": auto,
            "requested_reviewers": [self.user(each) for each in pull.requested],
            "requested_teams": [],
        }

    def pull(self, issue):
        """Return a pull request as it is given alone: merged or not, and whether it can be."""
        repository, mergeable = self.repository, self.repository.mergeable(issue)
        comments = [each for each in repository.review_comments.values() if each.number == issue.number]
        state = {None: "unknown", True: "clean", False: "dirty"}[mergeable]
        if issue.pull.draft and mergeable:
            state = "draft"
        elif mergeable and not repository.green(issue.pull.head_sha):
            state = "unstable"
        return described(
            "pull-request",
            **self._pull(issue),
            merged=issue.pull.merged_at is not None,
            merged_by=self.user(issue.pull.merged_by),
            mergeable=mergeable,
            mergeable_state=state,
            comments=len(repository.comments_of(issue.number)),
            review_comments=len(comments),
            commits=len(repository.bare.commits(issue.pull.base_sha, issue.pull.head_sha)),
        )

    def review(self, review):
        pull, web = f"{self.api}/pulls/{review.number}", f"{self.web}/pull/{review.number}"
        html = f"{web}#pullrequestreview-{review.id}"
        return described(
            "pull-request-review",
            id=review.id,
            user=self.user(review.user),
            author_association=self.repository.association(review.user),
            body=review.body,
            state=review.state,
            commit_id=review.commit,
            submitted_at=stamp(review.at),
            html_url=html,
            pull_request_url=pull,
            _links={"html": {"href": html}, "pull_request": {"href": pull}},
        )

    def review_comment(self, comment, name="pull-request-review-comment"):
        pull, web = f"{self.api}/pulls/{comment.number}", f"{self.web}/pull/{comment.number}"
        url, html = f"{self.api}/pulls/comments/{comment.id}", f"{web}#discussion_r{comment.id}"
        fields = {} if comment.reply_to is None else {"in_reply_to_id": comment.reply_to}
        stands = comment.line is not None and comment.commit == self.repository.issues[comment.number].pull.head_sha
        if name == "review-comment":  # of one review: it must say a position, which noface does not read
            fields |= {"position": 1 if stands else None, "original_position": 1}
        return described(
            name,
            **self._said(comment),
            **fields,
            id=comment.id,
            pull_request_review_id=comment.review,
            body=comment.body,
            path=comment.path,
            line=comment.line if stands else None,
            original_line=comment.line,
            side="RIGHT",
            subject_type="file" if comment.line is None else "line",
            commit_id=self.repository.issues[comment.number].pull.head_sha,
            original_commit_id=comment.commit,
            diff_hunk=f"@@ -{comment.line or 1},1 +{comment.line or 1},1 @@",
            url=url,
            html_url=html,
            pull_request_url=pull,
            _links={name: {"href": link} for name, link in (("self", url), ("html", html), ("pull_request", pull))},
        )


def user_view(user, api):
    return described(
        "simple-user",
        id=user.id,
        login=user.login,
        type=user.type,
        url=f"{api}/users/{user.login}",
        html_url=f"https://github.invalid/{user.login}",
    )
