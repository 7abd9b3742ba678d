"""What the tests share: the program, a playbook that waits milliseconds, and an upstream with a ledger."""

import collections
import faulthandler
import http.server
import json
import os
import pathlib
import random
import shutil
import sys
import tempfile
import threading
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[3]
sys.path.insert(0, str(HERE.parent))

import playproof  # noqa: E402

HANGS_AFTER_S = 240
REFUND = "payments.issue_refund"


def program():
    """The program that is tested: `PLAYPROOF_BIN`, else what was built here."""
    built = [ROOT / "target" / profile / "playproof" for profile in ("debug", "release")]
    found = os.environ.get("PLAYPROOF_BIN") or next((str(path) for path in built if path.is_file()), None)
    return found or shutil.which("playproof")


class Case(unittest.IsolatedAsyncioTestCase):
    """A test with a folder and a playbook of its own."""

    def setUp(self):
        if program() is None:
            self.skipTest("the program is not built, and PLAYPROOF_BIN does not name it")
        faulthandler.dump_traceback_later(HANGS_AFTER_S, exit=True)
        self.addCleanup(faulthandler.cancel_dump_traceback_later)
        # A process that dies loses nothing that it has written: no test needs a real disk.
        folder = tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.playbook = write_playbook(self.folder)

    def options(self, **options):
        return {"program": program(), "unlocked": True, **options}

    def dispatcher(self, playbook=None, **options):
        return playproof.Dispatcher(playbook or self.playbook, **self.options(**options))


def write_playbook(folder):
    """`standard`, with waits of milliseconds."""
    text = (ROOT / "playbooks" / "standard.yaml").read_text(encoding="utf-8")
    for slow, fast in (("[200, 600, 1800]", "[2, 5, 9]"), ("[400, 1600]", "[2, 5]"), ("[500, 2000]", "[2, 5]")):
        if slow not in text:
            raise AssertionError(f"standard waits no {slow}")
        text = text.replace(slow, fast)
    path = folder / "fast.yaml"
    text = text.replace("\ntools:\n", "\ntools:\n  tickets.add: { access: write, repeatable: true }\n  cards.charge: { access: write, once: transaction }\n")
    path.write_text(text.replace("name: standard", "name: fast"), encoding="utf-8")
    return path


class Ledger:
    """What an upstream has done: effects by key, or by order where there is no key. It honours keys."""

    def __init__(self):
        self.effects = collections.Counter()
        self._lock = threading.Lock()

    def act(self, key, order):
        with self._lock:
            self.effects[key or order] += 0 if key and self.effects[key] else 1

    def contradicts(self, key, order, effect):
        there = self.effects[key or order]
        return (effect == "applied" and there == 0) or (effect == "not_applied" and there > 0)


class Upstream(http.server.ThreadingHTTPServer):
    """A payment service over HTTP that fails before or after it has acted, from a seed, and keeps a ledger."""

    daemon_threads = True

    def __init__(self, seed=1):
        super().__init__(("127.0.0.1", 0), _Request)
        self.ledger, self.luck, self.requests = Ledger(), random.Random(seed), 0
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def handle_error(self, request, client_address):
        """A client that was killed reads no answer."""

    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}/refunds"


class _Request(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        upstream = self.server
        order = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["order"]
        key = self.headers.get("Idempotency-Key")
        upstream.requests += 1
        luck = upstream.luck.random()
        time.sleep(upstream.luck.random() * 0.004)
        if luck < 0.15:
            return self._answer(429, {"error": {"message": "too many requests"}})
        upstream.ledger.act(key, order)
        if luck < 0.3:
            return self._answer(503, {"error": {"message": "it broke"}})
        if luck < 0.35:
            return self.close_connection  # it acted, and never answers
        self._answer(200, {"refunded": order})

    def _answer(self, status, body):
        self.send_response(status)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, *_):
        pass
