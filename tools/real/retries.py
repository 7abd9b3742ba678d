"""Retry code as people have it, with tenacity and httpx, is asked the README's refund: it pays three times, and is found."""

import asyncio
import os
import pathlib
import sys

import httpx
import tenacity

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "release" / "python"))
import playproof  # noqa: E402
from playproof.testing import listed  # noqa: E402

THREE = {"stop": tenacity.stop_after_attempt(3), "wait": tenacity.wait_exponential(multiplier=0.2), "reraise": True}


@tenacity.retry(**THREE)
async def by_send(tool, args, key):
    return await playproof.send(key=key)


@tenacity.retry(**THREE)
def blocking(tool, args, key):
    return playproof.send(key=key)


@tenacity.retry(**THREE)
async def by_httpx(tool, args, key):
    async with httpx.AsyncClient(transport=playproof.httpx_transport(), timeout=2.0) as client:
        headers = {"Idempotency-Key": key} if key else {}
        (await client.post("http://pay/refunds", json=args, headers=headers)).raise_for_status()


async def careful(tool, args, key):
    return await asyncio.wait_for(playproof.send(key=key), 10)


case = next(listed("fixtures/unkeyed-refund-times-out-after-landing.yaml", playbook="standard", program=os.environ["PLAYPROOF_BIN"]))
for code in (by_send, blocking, by_httpx):
    try:
        case.run(code)
    except AssertionError as harm:
        assert "had 3 effects upstream, under the playbook 1" in str(harm), harm
    else:
        raise SystemExit(f"{code.__name__}: no harm was found")
case.run(careful)
print("tenacity and httpx: three refunds are found, and one that is careful is none")
