"""The example exchanges of the protocol, said to the process over the client's own pipe."""

import asyncio
import json
import unittest

from place import ROOT, Case, program

from playproof._process import Process

EXAMPLES = ROOT / "docs" / "examples" / "dispatch.jsonl"


def lacks(example, answer):
    """Where an answer lacks what an example has: an answer may say more, but lists are as long."""
    if isinstance(example, dict) and isinstance(answer, dict):
        return any(name not in answer or lacks(value, answer[name]) for name, value in example.items())
    if isinstance(example, list) and isinstance(answer, list):
        return len(example) != len(answer) or any(map(lacks, example, answer))
    return example != answer


class Examples(Case):
    async def test_the_examples_are_answered_as_they_say(self):
        examples = []
        for row in map(json.loads, EXAMPLES.read_text(encoding="utf-8").splitlines()):
            if "example" in row:
                examples.append((row, []))
            else:
                examples[-1][1].append(row)
        for head, rows in examples:
            answers = await self.answers(ROOT / "playbooks" / f"{head['playbook']}.yaml", rows)
            self.assertEqual(len(answers), len(rows), head)
            for row, answer in zip(rows, answers):
                self.assertFalse(lacks(row["out"], answer), f"{head['example']}: {row}: {answer}")
        self.assertGreater(len(examples), 10)

    async def answers(self, playbook, rows):
        said = []
        process = Process(lambda line: said.append(json.loads(line)), lambda process: None)
        await process.start([program(), "serve", "--unlocked", "--playbook", str(playbook)])
        for row in rows:
            line = row["in_text"] if "in_text" in row else json.dumps(row["in"])
            process.say(line.encode() + b"\n")
        while len(said) < len(rows) and not process.ended.done():
            await asyncio.sleep(0.005)
        await process.close()
        return said

    def test_a_difference_is_seen(self):
        example = {"do": [{"send": "a", "attempt": 1}]}
        self.assertFalse(lacks(example, {"do": [{"send": "a", "attempt": 1, "within_ms": 5}], "events": []}))
        for answer in ({"do": []}, {"do": [{"send": "a", "attempt": 2}]}, {"do": [{"send": "a"}]}, {"error": "no"}):
            self.assertTrue(lacks(example, answer))


if __name__ == "__main__":
    unittest.main()
