"""What a phone talks to, on loopback: a server as ntfy is one, one as Telegram's is, and a webhook, in one process."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

TOKEN = "12345678:AAbbCCddEEffGGhhIIjjKKllMMnnOOppQQr"
CHAT = "4711"


class Phone:
    """`sent` holds what services took: (kind, content). `status` answers all of it, `slow_s` later."""

    def __init__(self):
        self.sent, self.posted, self.updates, self.answered = [], [], [], []
        self.status, self.slow_s, self.odd, self._number = 200, 0.0, None, 0
        phone = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                time.sleep(phone.slow_s)
                self._answer(phone.taken(self.path, content, self.headers) if phone.status == 200 else {})

            def do_GET(self):
                time.sleep(phone.slow_s)
                self._answer(phone.listed(self.path))

            def _answer(self, content):
                data = content if isinstance(content, bytes) else json.dumps(content).encode()
                data = data if phone.odd is None else phone.odd
                self.send_response(phone.status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def ntfy(self):
        return f"ntfy://{self.host}/night-watch-7"

    @property
    def replies(self):
        return f"ntfy://{self.host}/reply-topic-9"

    @property
    def telegram(self):
        return f"tgram://{TOKEN}/{CHAT}?api=http://{self.host}"

    @property
    def webhook(self):
        return f"json://{self.host}/hook"

    def taken(self, path, content, headers):
        if path.startswith("/hook"):
            self.sent.append(("hook", json.loads(content)))
            return {}
        if path.startswith("/bot"):
            return self._telegram(path, json.loads(content))
        if path.strip("/") == "":
            actions = json.loads(headers.get("X-Actions") or "[]")
            more = {"actions": actions, "delay": headers.get("X-Delay")}
            self.sent.append(("ntfy", {**json.loads(content), **more}))
            return {"id": "x"}
        self.post(content.decode(), path.strip("/"))
        return {"id": "x"}

    def _telegram(self, path, content):
        token, method = path.removeprefix("/bot").split("/")
        assert token == TOKEN
        if method == "getUpdates":
            self.updates = [each for each in self.updates if each["update_id"] >= content.get("offset", 0)]
            return {"ok": True, "result": self.updates}
        if method == "answerCallbackQuery":
            self.answered.append(content["text"])
        else:
            self.sent.append(("telegram", content))
        return {"ok": True, "result": True}

    def listed(self, path):
        topic, query = urlsplit(path).path.strip("/").removesuffix("/json"), parse_qs(urlsplit(path).query)
        since = query["since"][0]
        ids = [each["id"] for each in self.posted]
        new = self.posted[ids.index(since) + 1 :] if since in ids else self.posted
        return b"".join(json.dumps(each).encode() + b"\n" for each in new if each["topic"] == topic)

    def post(self, text, topic="reply-topic-9"):
        """Write to the topic of answers, as a button of ntfy does."""
        self._number += 1
        self.posted.append({"id": f"m{self._number}", "event": "message", "topic": topic, "message": text})

    def press(self, data, chat=CHAT):
        self._number += 1
        query = {"id": f"q{self._number}", "from": {"username": "ada"}, "data": data}
        self.updates.append({"update_id": self._number, "callback_query": query | {"message": {"chat": {"id": chat}}}})

    def write(self, text, chat=CHAT, **more):
        self._number += 1
        said = {"chat": {"id": int(chat)}, "from": {"username": "ada"}, "text": text, **more}
        self.updates.append({"update_id": self._number, "message": said})

    def texts(self, kind):
        return [content for name, content in self.sent if name == kind]

    def close(self):
        self.server.shutdown()
        self.server.server_close()
