"""A corpus in parts, without an engine: what each part is made of, and what fails. `tools/real/corpus.py` has the engines."""

import json
import os
import tempfile
import unittest
from unittest import mock

from place import program

from playproof import corpus


def row(part, run, **fields):
    line = {"run_id": run, "tool": "pay", "args": {"a": run}, "status": "ok", **fields}
    return part, json.dumps(line)


@unittest.skipIf(program() is None, "the program is not built")
class Corpus(unittest.TestCase):
    def setUp(self):
        environment = mock.patch.dict(os.environ, {"PLAYPROOF_BIN": program() or ""})
        environment.start()
        self.addCleanup(environment.stop)

    def test_the_parts_of_rows_add_up(self):
        job = corpus.Job(["--playbook", "standard", "--format", "json"], None)
        rows = [row(n // 2, f"r{n}", status="error", error={"kind": "odd"}) for n in range(6)]
        parts = list(job.parts(iter(rows)))
        self.assertEqual([number for number, _ in parts], [0, 1, 2])
        self.assertEqual(parts, list(job.parts(iter(rows))), "a task that is run again")
        whole = json.loads(job.merge(reversed(parts), job.shown).stdout)
        self.assertEqual([account["runs"] for account in whole["inputs"]], [2, 2, 2])
        self.assertEqual(sum(call["count"] for call in whole["calls"]), 6)

    def test_a_part_that_cannot_be_read_fails_with_its_number(self):
        job = corpus.Job([], None)
        with self.assertRaisesRegex(corpus.CorpusError, "part 7: .*"):
            list(job.parts(iter([row(3, "r1"), (7, "no JSON")])))

    def test_a_worker_with_another_version_is_refused(self):
        job = corpus.Job([], None)
        job.version = "0.0.1"
        with self.assertRaisesRegex(corpus.CorpusError, "this worker has Playproof .*, and the driver 0.0.1"):
            next(job.parts(iter([row(0, "r1")])))

    def test_a_run_in_two_parts_is_named(self):
        job = corpus.Job([], None)
        merged = job.merge(list(job.parts(iter([row(0, "r1"), row(1, "r1")]))), [])
        self.assertEqual(merged.returncode, 2)
        self.assertIn("the run `r1` is in both", merged.stderr.decode())

    def test_each_shipped_mapping_names_its_columns(self):  # and perhaps a column that is called as a key of mappings
        known = ["id", "trace_id", "TraceId", "start_time", "Timestamp", "SpanAttributes", "input", "inputs", "unused"]
        wanted = {
            "langfuse": (["id", "trace_id", "start_time", "input"], ["trace_id"], ["start_time"]),
            "langsmith": (["id", "trace_id", "start_time", "inputs"], ["trace_id"], ["start_time"]),
            "otlp": (["id", "TraceId", "Timestamp", "SpanAttributes"], ["TraceId"], ["Timestamp"]),
        }
        for name, (columns, run, at) in wanted.items():
            job = corpus.Job([], name)
            self.assertEqual((job.columns(known), *job.keys(columns)), (columns, run, at), name)
        with self.assertRaisesRegex(corpus.CorpusError, "no column of the table is the run"):
            corpus.Job([], "otlp").keys(["Timestamp"])

    def test_a_mapping_is_read_as_the_program_reads_it(self):
        with tempfile.TemporaryDirectory() as folder:
            mapping = os.path.join(folder, "ours.yaml")
            with open(mapping, "w", encoding="utf-8") as file:
                file.write("""format: mapping/1
records: $
call:
  tool: name
  args: { path: input, optional: true }
  run:  # at: other
    - session.id
    - '["trace.id"]'
  at: { path: made, unit: s }
result:
  body: run
failed: text
""")
            job = corpus.Job([], mapping)
        self.assertEqual(job.keys(["other", "made", "trace.id", "session", "run"]), (["trace.id"], ["made"]))

    def test_other_commands_add_up_too(self):
        for command, words in [("impact", ["--candidate", "reversing"]), ("propose find", [])]:
            job = corpus.Job([*words, "--format", "json"], None, command)
            parts = job.parts(iter([row(n, f"r{n}", status="error", error={"kind": "odd"}) for n in range(3)]))
            merged = job.merge(list(parts), job.shown)
            self.assertEqual(len(json.loads(merged.stdout)["inputs"]), 3, merged.stderr)


if __name__ == "__main__":
    unittest.main()
