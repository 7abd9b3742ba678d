"""Logs whose lines are linked, verified by another program that writes such chains: `theodosia`. For tools/real.sh."""

import pathlib
import subprocess
import sys
import tempfile

from theodosia.ledger import verify_ledger

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools" / "release" / "python" / "tests"))
from place import program  # noqa: E402

FIXTURE = ROOT / "fixtures" / "a-denial-escalates-and-is-never-retried.yaml"

with tempfile.TemporaryDirectory() as folder:
    for option in ("--record", "--audit"):
        log = pathlib.Path(folder) / f"{option}.jsonl"
        replay = [program(), "replay", str(FIXTURE), "--playbook", "standard", f"{option}={log}", "--chain"]
        subprocess.run(replay, check=True, stdout=subprocess.DEVNULL)
        assert verify_ledger(log) == (True, []), option
        log.write_text(log.read_text(encoding="utf-8").replace("refund", "rebate", 1), encoding="utf-8")
        assert not verify_ledger(log)[0], "an altered line is found"
print("theodosia: verifies 2 chains of ours, and finds what was altered")
