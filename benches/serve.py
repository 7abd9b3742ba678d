"""Times `playproof serve` and the Python client: `python3 benches/serve.py PROGRAM`, with a program of `--profile dist`.

CPU of the process a decision, from a file and without a journal; calls a second with a journal on this disk, 64 at a time;
and what the asyncio client takes a decision. A call that succeeds has two decisions: to send, and that it has ended."""
import asyncio
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools" / "release" / "python"))

import playproof  # noqa: E402

PROGRAM = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "target" / "dist" / "playproof")
SERVE = [PROGRAM, "serve", "--playbook", "standard", "--unlocked"]
AT_ONCE = 64


def call(n):
    return b'{"type":"call","id":"c%d","at_ms":%d,"run":"r%d","tool":"search.web","args":{"q":"x"}}\n' % (n, n, n // 16)


def answer(n):
    return b'{"type":"answer","id":"c%d","attempt":1,"at_ms":%d,"ok":true}\n' % (n, n)


def end(n):
    return b'{"type":"end_run","run":"r%d","at_ms":%d}\n' % (n // 16, n) if n % 16 == 15 else b""


def cpu():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def of_a_file(folder, calls):
    path = folder / "lines.jsonl"
    path.write_bytes(b"".join(call(n) + answer(n) + end(n) for n in range(calls)))
    before = cpu()
    with path.open("rb") as lines:
        subprocess.run(SERVE, stdin=lines, stdout=subprocess.DEVNULL, check=True, cwd=folder)
    return (cpu() - before) / (2 * calls) * 1e6


def journaled(folder, calls):
    command = [*SERVE, "--journal", "calls.jsonl"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=folder) as process:
        began = time.perf_counter()
        for first in range(0, calls, AT_ONCE):
            for lines in ([call(n) for n in range(first, first + AT_ONCE)], [answer(n) + end(n) for n in range(first, first + AT_ONCE)]):
                said = b"".join(lines)
                process.stdin.write(said)
                process.stdin.flush()
                for _ in range(said.count(b"\n")):
                    process.stdout.readline()
        took = time.perf_counter() - began
        process.stdin.close()
    return calls / took


async def by_the_client(folder, calls):
    async def send(attempt):
        return 1

    options = dict(program=PROGRAM, unlocked=True)
    async with playproof.Dispatcher("standard", **options) as d:
        before, began = time.process_time(), time.perf_counter()
        for _ in range(calls):
            await d.call("search.web", {"q": "x"}, send)
        used, took = time.process_time() - before, time.perf_counter() - began
    return used / (2 * calls) * 1e6, took / (2 * calls) * 1e6


with tempfile.TemporaryDirectory(dir=os.environ.get("BENCH_DIR")) as name:
    folder = pathlib.Path(name)
    print(f"{min(of_a_file(folder, 50_000) for _ in range(2)):.1f} us CPU of the process a decision (5 wanted)")
    print(f"{max(journaled(folder, 6_400) for _ in range(2)):.0f} calls a second with a journal, {AT_ONCE} at a time (2,000 wanted)")
    used, took = min(asyncio.run(by_the_client(folder, 5_000)) for _ in range(2))
    print(f"{used:.0f} us CPU of the client a decision, {took:.0f} us on the clock (100 wanted)")
