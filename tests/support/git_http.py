"""Git over http: requests are handed to the real `git http-backend`, which reads and writes a bare repository."""

import subprocess
import zlib

from .git_ground import ENV

BACKEND = ("git", "http-backend")


def wants_write(path, query):
    return path.endswith("/git-receive-pack") or "service=git-receive-pack" in query


def serve(bare, inner, method, query, headers, body, login):
    """Return status, headers and body of the backend's answer to a request for `inner` of a bare repository."""
    if headers.get("Content-Encoding") == "gzip":
        body = zlib.decompress(body, 31)
    env = {
        **ENV,
        "GIT_PROJECT_ROOT": str(bare.path),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": inner,
        "QUERY_STRING": query,
        "REQUEST_METHOD": method,
        "CONTENT_TYPE": headers.get("Content-Type", ""),
        "CONTENT_LENGTH": str(len(body)),
        "REMOTE_USER": login,
        "REMOTE_ADDR": "127.0.0.1",
        "GIT_PROTOCOL": headers.get("Git-Protocol", ""),
    }
    ended = subprocess.run(BACKEND, env=env, input=body, capture_output=True, check=False)
    head, _, content = ended.stdout.partition(b"\r\n\r\n")
    fields = dict(line.split(": ", 1) for line in head.decode().splitlines() if ": " in line)
    status = int(fields.pop("Status", "200 OK").split()[0])
    return status, fields, content
