"""Cut what noface uses out of GitHub's published description of its REST API, small enough to keep beside the tests.

The npm package @octokit/openapi carries the description. `make github-openapi` packs its newest version and writes
forge/github_openapi.json.xz anew: the operations named below, with the schemas that they reach, without prose. Its
diff is not readable, so the tests are what tells what has changed; `PACKAGE=23.0.2` takes a version of your choice.
"""

import argparse
import json
import lzma
import subprocess
import tarfile
import tempfile
from pathlib import Path

from . import TESTS

FILE = TESTS / "forge" / "github_openapi.json.xz"
DESCRIPTION = "package/generated/api.github.com.json"
PROSE = frozenset(
    [
        "description",
        "summary",
        "title",
        "example",
        "examples",
        "x-github",
        "x-githubCloudOnly",
        "externalDocs",
        "tags",
        "deprecated",
        "x-multi-segment",
        "discriminator",
        "x-github-breaking-changes",
    ]
)
OPERATIONS = """
    rate-limit/get meta/get users/get-authenticated users/get-by-username repos/get repos/get-collaborator-permission-level
    repos/check-collaborator repos/list-collaborators
    issues/list-for-repo issues/create issues/get issues/update issues/list-comments-for-repo issues/list-comments
    issues/create-comment issues/get-comment issues/update-comment issues/delete-comment
    issues/list-labels-for-repo issues/create-label issues/get-label issues/update-label issues/delete-label
    issues/list-labels-on-issue issues/add-labels issues/set-labels issues/remove-label issues/remove-all-labels
    issues/list-milestones issues/get-milestone issues/create-milestone
    issues/list-sub-issues issues/add-sub-issue issues/remove-sub-issue issues/get-parent
    issues/list-dependencies-blocked-by issues/list-dependencies-blocking issues/add-blocked-by-dependency
    issues/remove-dependency-blocked-by issues/list-events issues/list-events-for-repo
    issues/add-assignees issues/remove-assignees
    pulls/list pulls/create pulls/get pulls/update pulls/merge pulls/check-if-merged pulls/list-reviews
    pulls/create-review pulls/list-comments-for-review
    pulls/list-review-comments pulls/list-review-comments-for-repo pulls/list-requested-reviewers
    pulls/request-reviewers pulls/remove-requested-reviewers pulls/list-commits pulls/list-files
    checks/list-for-ref checks/get checks/list-annotations repos/get-combined-status-for-ref
    repos/list-commit-statuses-for-ref repos/create-commit-status
    actions/get-job-for-workflow-run actions/list-jobs-for-workflow-run actions/list-jobs-for-workflow-run-attempt
    actions/download-job-logs-for-workflow-run actions/get-workflow-run
    actions/list-workflow-runs-for-repo
    git/get-ref git/list-matching-refs git/create-ref git/update-ref git/delete-ref git/get-commit
    repos/list-branches repos/get-branch repos/get-commit repos/list-pull-requests-associated-with-commit
    repos/get-content repos/get-branch-rules repos/get-repo-ruleset
    reactions/create-for-issue-comment reactions/create-for-pull-request-review-comment
    pulls/create-reply-for-review-comment
"""
"""Ids of the operations that the server of the tests has, or could have: a call of another one is a fault of noface."""


def schema(node):
    """Return an OpenAPI 3.0 schema as JSON Schema: null is a type, and prose is gone."""
    if isinstance(node, list):
        return [schema(each) for each in node]
    if not isinstance(node, dict):
        return node
    made = {}
    for key, value in node.items():
        if key == "properties":  # whose keys are names, not keywords
            made[key] = {name: schema(each) for name, each in value.items()}
        elif key in {"enum", "default", "required"}:
            made[key] = value
        elif key == "allOf":  # a part says what it adds, and nothing of the others'
            made[key] = [{"additionalProperties": True, **schema(each)} for each in value]
        elif key not in PROSE and key != "nullable":
            made[key] = schema(value)
    made.pop("default", None)
    if node.get("nullable"):
        return _or_null(made)
    return made


def _or_null(made):
    if "type" in made:
        made["type"] = [made["type"], "null"] if isinstance(made["type"], str) else [*made["type"], "null"]
        if "enum" in made and None not in made["enum"]:
            made["enum"] = [*made["enum"], None]
        return made
    return {"anyOf": [made, {"type": "null"}]} if made else made


class Description:
    """GitHub's description, and the schemas that were asked for so far."""

    def __init__(self, whole):
        self.whole = whole
        self.wanted = {}

    def look_up(self, node):
        while "$ref" in node:
            _, *names = node["$ref"].split("/")
            node = self.whole
            for name in names:
                node = node[name.replace("~1", "/").replace("~0", "~")]
        return node

    def take(self, node):
        """Return a schema as it is to be written, and want those that it refers to."""
        taken = schema(node)
        waiting = [taken]
        while waiting:
            each = waiting.pop()
            if isinstance(each, dict):
                name = each.get("$ref", "")
                if isinstance(name, str) and name.startswith("#/components/schemas/"):
                    self._want(name.rpartition("/")[2])
                waiting.extend(each.values())
            elif isinstance(each, list):
                waiting.extend(each)
        return taken

    def _want(self, name):
        if name not in self.wanted:
            self.wanted[name] = None  # schemas may refer to themselves
            self.wanted[name] = self.take(self.whole["components"]["schemas"][name])

    def content(self, node):
        """Return the schema of a body, {} for one that is not JSON, None without a body."""
        kinds = self.look_up(node).get("content")
        if kinds is None:
            return None
        json_kind = next((kinds[kind] for kind in kinds if kind.startswith("application/") and "json" in kind), None)
        return {} if json_kind is None else self.take(json_kind["schema"])

    def operation(self, path, method, shared, node):
        parameters = [self.look_up(each) for each in (*shared, *node.get("parameters", ()))]
        return {
            "id": node["operationId"],
            "path": path,
            "method": method.upper(),
            "query": {
                each["name"]: {"required": each.get("required", False), "schema": self.take(each["schema"])}
                for each in parameters
                if each["in"] == "query"
            },
            "in_path": {each["name"]: self.take(each["schema"]) for each in parameters if each["in"] == "path"},
            "body": self.content(node["requestBody"]) if "requestBody" in node else None,
            "body_required": self.look_up(node.get("requestBody", {})).get("required", False),
            "answers": {status: self.content(each) for status, each in node["responses"].items()},
        }


def extract(whole, names=tuple(OPERATIONS.split())):
    """Return the operations by id, the schemas that they use, and the version of the package."""
    description, operations = Description(whole), {}
    for path, methods in whole["paths"].items():
        for method, node in methods.items():
            if isinstance(node, dict) and node.get("operationId") in names:
                made = description.operation(path, method, methods.get("parameters", ()), node)
                operations[made["id"]] = made
    if lacking := set(names) - set(operations):
        raise SystemExit(f"GitHub's description has no operation {', '.join(sorted(lacking))}")
    return {"version": whole["info"]["version"], "operations": operations, "schemas": description.wanted}


def main():
    """Write the extract of a package that was packed, or of the newest one in the registry."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--package", default="", help="the version, or the file that `npm pack` made")
    wanted = parser.parse_args().package
    with tempfile.TemporaryDirectory() as folder:
        package = Path(wanted)
        if not package.is_file():
            name = f"@octokit/openapi{'@' if wanted else ''}{wanted}"
            packed = subprocess.run(["npm", "pack", "--silent", name], cwd=folder, check=True, capture_output=True)
            package = Path(folder, packed.stdout.decode().split()[-1])
        with tarfile.open(package) as archive:
            whole = json.load(archive.extractfile(DESCRIPTION))
    text = json.dumps(extract(whole), separators=(",", ":"), sort_keys=True)
    FILE.write_bytes(lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{FILE}: {whole['info']['version']}, {FILE.stat().st_size} bytes")


if __name__ == "__main__":
    main()
