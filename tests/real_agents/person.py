"""What a person may have in their home for their own work with an agent: hooks, MCP servers, memory.

Each hook and server calls the model's server at VISITED, so that it is seen wherever it is started.
"""

import json
import sys
from pathlib import Path
from typing import Any

from install import clis

WORDS = "REMEMBER-WHAT-THE-PERSON-OF-THIS-HOME-WANTS"
"""Stands in the person's memory: a request that holds it was told of that."""
VISITED = "/visited/"


def _visit(url: str, who: str) -> list[str]:
    program = f"import urllib.request as u; u.urlopen('{url}{VISITED}{who}')"
    return [sys.executable, "-c", program]


def _shell(url: str, who: str) -> str:
    program, flag, code = _visit(url, who)
    return f'{program} {flag} "{code}"'


def settings_of_a_person(home: Path, agent: str, url: str) -> dict[str, str]:
    """Write them into a home, where settings are kept that are there already; the variables that lead to them."""
    server, hook = _visit(url, "server"), _shell(url, "hook")
    mcp = {"mine": {"command": server[0], "args": server[1:]}}
    hooks = {"SessionStart": [{"hooks": [{"type": "command", "command": hook}]}]}
    match agent:
        case "claude":
            _merge(home / ".claude" / "settings.json", {"hooks": hooks})
            _merge(home / ".claude.json", {"mcpServers": mcp})
            _write(home / ".claude" / "CLAUDE.md", WORDS)
        case "codex":
            toml = f"notify = {json.dumps(_visit(url, 'hook'))}\n"
            toml += f"[mcp_servers.mine]\ncommand = {json.dumps(server[0])}\nargs = {json.dumps(server[1:])}\n"
            _write(home / ".codex" / "config.toml", toml)
            _write(home / ".codex" / "AGENTS.md", WORDS)
        case "gemini":
            _merge(home / ".gemini" / "settings.json", {"mcpServers": mcp, "hooks": hooks})
            _write(home / ".gemini" / "GEMINI.md", WORDS)
        case "opencode":
            local = {"mine": {"type": "local", "command": server, "enabled": True}}
            _merge(home / ".config/opencode/opencode.json", {"mcp": local})
            plugin = f"export const Mine = async () => {{ await fetch('{url}{VISITED}hook'); return {{}} }}\n"
            _write(home / ".config/opencode/plugin/mine.js", plugin)
            _write(home / ".config/opencode/AGENTS.md", WORDS)
        case "aider":
            _write(home / ".aider.conf.yml", f"auto-test: true\ntest-cmd: {json.dumps(hook)}\n")
        case "mini":
            folder = home / ".config" / "mini-swe-agent"
            (built_in,) = clis()["mini"].folder.glob("lib/python*/site-packages/minisweagent/config/mini.yaml")
            own = built_in.read_text("utf-8").replace("instance_template: |\n", f"instance_template: |\n    {WORDS}\n")
            _write(folder / "mini.yaml", own)
            leading = {"MSWEA_CONFIG_DIR": str(folder), "MSWEA_MINI_CONFIG_PATH": str(folder / "mini.yaml")}
            _write(folder / ".env", "".join(f"{name}={value}\n" for name, value in leading.items()))
            return leading
    return {}


def files(home: Path) -> dict[str, str]:
    """Return what stands in the files that `settings_of_a_person` writes, by path."""
    places = (".claude", ".claude.json", ".codex", ".gemini", ".config", ".aider.conf.yml")
    roots = [home / name for name in places]
    found = [
        path for root in roots for path in ([root] if root.is_file() else sorted(root.rglob("*"))) if path.is_file()
    ]
    return {str(path.relative_to(home)): path.read_text("utf-8", "replace") for path in found}


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def _merge(path: Path, more: dict[str, Any]) -> None:
    before = json.loads(path.read_text("utf-8")) if path.exists() else {}
    _write(path, json.dumps(before | more))
