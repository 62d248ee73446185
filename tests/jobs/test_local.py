"""Durable runs of the command line: interrupted, they report what they found; resumed, they pay for nothing twice."""

import asyncio
from dataclasses import replace

import pytest
from reliability.story import QUESTION, Killer, Ledger, make_prepare

from suffice.errors import InputError
from suffice.jobs import local
from suffice.jobs.requests import JobRequest
from suffice.options import RunOptions

RUN = "20260101T000000-0000abcd"
REQUEST = JobRequest(QUESTION, RunOptions(strategy="reflect", stop="sufficiency", review=False), working_dir=".")


def test_interrupted_run_is_resumed(tmp_path):
    killer = Killer()
    ledger = Ledger(tmp_path / "ledger", killer)

    async def run(*, resume):
        config = replace(await make_prepare(ledger)(QUESTION, REQUEST.options), run_id=RUN)
        return await local.run_local(RUN, REQUEST, config, tmp_path, (), resume=resume)

    async def interrupt():
        working = asyncio.ensure_future(run(resume=False))
        async with asyncio.timeout(180):
            while killer.calls < 5:
                await asyncio.sleep(0.001)
        with pytest.raises(InputError, match=RUN):  # Another process works on it.
            await run(resume=True)
        working.cancel()
        return await working

    report = asyncio.run(interrupt())
    assert report.stop.reason == "cancelled"
    assert report.run == RUN
    assert [run for run, _ in local.list_unfinished(tmp_path)] == [RUN]
    assert local.load_request(RUN, tmp_path) == REQUEST

    report = asyncio.run(run(resume=True))
    assert report.status == "answered"
    paid = ledger.path.read_text(encoding="utf-8").splitlines()
    # The two searches that ran at the interruption may have been answered but not stored; nothing else is paid again.
    again = [call for call in set(paid) if paid.count(call) > 1]
    assert len(again) <= 2
    assert all(call.startswith("search") for call in again)
    assert local.list_unfinished(tmp_path) == []
    assert list((tmp_path / "unfinished").iterdir()) == []


@pytest.mark.parametrize("name", ["nope", "../../etc/passwd", ""])
def test_unknown_run(tmp_path, name):
    with pytest.raises(InputError, match="suffice resume"):
        local.load_request(name, tmp_path)
