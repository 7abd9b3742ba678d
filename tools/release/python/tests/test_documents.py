"""The Python of the documents runs as it is written."""

import asyncio
import os
import re
import sys
import textwrap
import types
import unittest

from place import ROOT, Case, playproof


class Documents(Case):
    async def test_the_snippets_run(self):
        paid = []

        class AsyncClient:  # what the snippets use of httpx
            async def __aenter__(self):
                return self

            async def __aexit__(self, *_):
                pass

            async def post(self, url, json, headers):
                paid.append((url, json["order"], headers["Idempotency-Key"]))
                return types.SimpleNamespace(raise_for_status=lambda: types.SimpleNamespace(json=lambda: "paid"))

        async def pay(order, key):
            paid.append(("tool", order, key))
            return "receipt"

        sys.modules["httpx"], before = types.SimpleNamespace(AsyncClient=AsyncClient), sys.modules.get("httpx")
        (self.folder / "playbooks").mkdir()
        self.playbook.rename(self.folder / "playbooks" / "ours.yaml")
        here = os.getcwd()
        os.chdir(self.folder)
        try:
            for page in ("README.md", "docs/python.md"):
                blocks = re.findall(r"^```python[^\n]*\n(.*?)^```", (ROOT / page).read_text(encoding="utf-8"), re.M | re.S)
                self.assertTrue(blocks, page)
                for block in blocks:
                    await self.run_block(block, {"URL": "u", "pay": pay})
        finally:
            os.chdir(here)
            sys.modules.pop("httpx")
            if before is not None:
                sys.modules["httpx"] = before
        self.assertIn(("u", "o_91", "ik_91"), paid)
        self.assertEqual(paid[-1][:2], ("tool", "o_91"))

    async def run_block(self, block, names):
        """A block that defines `main` runs it; another one is the body of a program that has a dispatcher."""
        opened = self.options()

        class Dispatcher(playproof.Dispatcher):
            def __init__(self, playbook, **options):
                super().__init__(playbook, **{**opened, **options})

        names["playproof"] = types.SimpleNamespace(**{**vars(playproof), "Dispatcher": Dispatcher})
        block = block.replace("import playproof\n", "")
        if "async def main" not in block:
            body = textwrap.indent(block, "        ")
            head = "async def main():\n    async with playproof.Dispatcher('playbooks/ours.yaml') as d:\n"
            block = head + body
        exec(compile(block, "a document", "exec"), names)
        await names["main"]()


if __name__ == "__main__":
    unittest.main()
