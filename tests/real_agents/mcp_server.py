"""A server of the Model Context Protocol with one tool: `python mcp_server.py NAME MARK` makes the file MARK."""

import json
import sys
from pathlib import Path


def result(request, name):
    """Return what a request is answered with."""
    match request["method"]:
        case "initialize":
            version = request["params"]["protocolVersion"]
            return {
                "protocolVersion": version,
                "capabilities": {"tools": {}},
                "serverInfo": {"name": name, "version": "1"},
            }
        case "tools/list":
            return {
                "tools": [
                    {"name": f"look{name}", "description": "looks", "inputSchema": {"type": "object", "properties": {}}}
                ]
            }
        case _:
            return {}


name, mark = sys.argv[1:]
Path(mark).touch()
for line in sys.stdin:
    request = json.loads(line)
    if "id" in request:
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result(request, name)}), flush=True)
