"""What the server of the tests shows of checks, workflows, statuses, commits and refs."""

from .github_openapi import NOWHERE, described
from .github_views import TalkViews, stamp


class Views(TalkViews):
    """All objects of one repository."""

    def check_run(self, check):
        url = f"{self.api}/check-runs/{check.id}"
        job = f"{self.web}/actions/runs/{check.run}/job/{check.id}"
        done = check.status == "completed"
        app = described(
            "integration",
            id=15368,
            slug=check.app,
            owner=self.user(self.repository.server.user("github")),
            name=check.app,
            created_at=stamp(0),
            updated_at=stamp(0),
            permissions={},
            external_url=NOWHERE,
        )
        return described(
            "check-run",
            id=check.id,
            name=check.name,
            head_sha=check.sha,
            status=check.status,
            conclusion=check.conclusion,
            started_at=stamp(check.at),
            completed_at=stamp(check.at) if done else None,
            url=url,
            html_url=job,
            details_url=job if check.app == "github-actions" else f"https://{check.app}.invalid/{check.id}",
            app=app,
            check_suite={"id": check.run},
            output={
                "title": None,
                "summary": check.summary,
                "text": check.text,
                "annotations_count": len(check.annotations),
                "annotations_url": f"{url}/annotations",
            },
        )

    def annotation(self, annotation):
        fields = {"annotation_level": "failure", "title": None, "raw_details": None, "blob_href": NOWHERE}
        return described("check-annotation", **{**fields, **annotation})

    def run(self, check):
        """Return the workflow's run that a check of GitHub Actions is a job of; each run has one."""
        url, own = f"{self.api}/actions/runs/{check.run}", self.small_repository()
        return described(
            "workflow-run",
            id=check.run,
            name="CI",
            display_title=check.name,
            path=".github/workflows/ci.yml",
            event="pull_request",
            workflow_id=1,
            run_number=1,
            run_attempt=1,
            status=check.status,
            conclusion=check.conclusion,
            head_sha=check.sha,
            url=url,
            html_url=f"{self.web}/actions/runs/{check.run}",
            jobs_url=f"{url}/jobs",
            created_at=stamp(check.at),
            updated_at=stamp(check.at),
            repository=own,
            head_repository=own,
        )

    def job(self, check):
        done, at = check.status == "completed", stamp(check.at)
        failed = check.conclusion in {"failure", "timed_out", "cancelled"}

        def step(number, name, conclusion):
            state = "completed" if done else "in_progress"
            return {"number": number, "name": name, "status": state, "conclusion": conclusion}

        steps = [
            step(1, "Set up job", "success" if done else None),
            step(2, check.step, check.conclusion),
            step(3, "Complete job", ("skipped" if failed else "success") if done else None),
        ]
        return described(
            "job",
            id=check.id,
            run_id=check.run,
            run_url=f"{self.api}/actions/runs/{check.run}",
            run_attempt=1,
            node_id="",
            name=check.name,
            head_sha=check.sha,
            url=f"{self.api}/actions/jobs/{check.id}",
            html_url=f"{self.web}/actions/runs/{check.run}/job/{check.id}",
            check_run_url=f"{self.api}/check-runs/{check.id}",
            status=check.status,
            conclusion=check.conclusion,
            created_at=at,
            started_at=at,
            completed_at=at if done else None,
            steps=steps,
            labels=["ubuntu-latest"],
            workflow_name="CI",
        )

    def status(self, status):
        return described(
            "status",
            id=status.id,
            context=status.context,
            state=status.state,
            description=status.description,
            target_url=status.target_url,
            creator=self.user(status.creator),
            url=f"{self.api}/statuses/{status.sha}",
            created_at=stamp(status.at),
            updated_at=stamp(status.at),
            avatar_url=None,
        )

    def combined(self, sha):
        """Return the newest status of each context, and what they come to: pending where there is none."""
        newest = list({each.context: each for each in reversed(self.repository.statuses_of(sha))}.values())
        states = {each.state for each in newest}
        state = "failure" if states & {"failure", "error"} else "success" if states == {"success"} else "pending"
        statuses = [{key: value for key, value in self.status(each).items() if key != "creator"} for each in newest]
        return described(
            "combined-commit-status",
            sha=sha,
            state=state,
            statuses=[described("simple-commit-status", **each) for each in statuses],
            total_count=len(newest),
            repository=self.small_repository(),
            commit_url=f"{self.api}/commits/{sha}",
            url=f"{self.api}/commits/{sha}/status",
        )

    def commit(self, sha):
        git = self.repository.bare.git
        tree, parents, name, email, at, text = git("log", "-1", "--format=%T%n%P%n%an%n%ae%n%at%n%B", sha).split(
            "\n", 5
        )
        person = {"name": name, "email": email, "date": stamp(int(at))}
        url = f"{self.api}/commits/{sha}"
        return described(
            "commit",
            sha=sha,
            url=url,
            html_url=f"{self.web}/commit/{sha}",
            author=None,
            committer=None,
            commit={
                "url": url,
                "author": person,
                "committer": person,
                "message": text.rstrip("\n"),
                "comment_count": 0,
                "tree": {"sha": tree, "url": f"{self.api}/git/trees/{tree}"},
            },
            parents=[{"sha": each, "url": f"{self.api}/commits/{each}"} for each in parents.split()],
        )

    def ref(self, name, sha):
        target = {"type": "commit", "sha": sha, "url": f"{self.api}/git/commits/{sha}"}
        return {"ref": name, "node_id": "", "url": f"{self.api}/git/{name}", "object": target}
