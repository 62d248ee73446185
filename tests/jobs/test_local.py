"""A run of the command line that pays for its calls: interrupted, it gives what it has; taken up, it pays for nothing twice."""

import asyncio
from dataclasses import replace

import pytest
from reliability.story import TASK, Killer, Ledger, preparing

from suffice.api import Options
from suffice.errors import InputError
from suffice.jobs import local
from suffice.jobs.requests import JobRequest

RUN = "20260101T000000-0000abcd"
ORDER = JobRequest(TASK, Options(strategy="reflect", stop="sufficiency", review=False), working_dir=".")


async def setup(ledger):
    return replace(await preparing(ledger)(TASK, ORDER.options), run_id=RUN)


def test_interrupted_and_taken_up(tmp_path):
    killer = Killer()
    ledger = Ledger(tmp_path / "ledger", killer)
    seen = []

    async def interrupted():
        working = asyncio.ensure_future(
            local.run_local(RUN, ORDER, await setup(ledger), tmp_path, seen.append, resume=False)
        )
        while killer.calls < 5:
            await asyncio.sleep(0.001)
        with pytest.raises(InputError, match="Another process"):
            await local.run_local(RUN, ORDER, await setup(ledger), tmp_path, seen.append, resume=True)
        working.cancel()
        return await working

    report = asyncio.run(interrupted())
    assert report.stop.reason == "cancelled"
    assert report.run == RUN
    assert [left.run for left in local.list_unfinished(tmp_path)] == [RUN]
    assert local.load_request(RUN, tmp_path) == ORDER

    async def taken_up():
        return await local.run_local(RUN, ORDER, await setup(ledger), tmp_path, seen.append, resume=True)

    report = asyncio.run(taken_up())
    assert report.status == "answered"
    paid = ledger.path.read_text(encoding="utf-8").splitlines()
    # The two searches under way in that moment may have been answered and not yet kept; nothing else is paid for again.
    again = [call for call in set(paid) if paid.count(call) > 1]
    assert len(again) <= 2
    assert all(call.startswith("search") for call in again)
    assert local.list_unfinished(tmp_path) == []
    assert list((tmp_path / "unfinished").iterdir()) == []


@pytest.mark.parametrize("name", ["nope", "../../etc/passwd", ""])
def test_a_run_that_is_not_there(tmp_path, name):
    with pytest.raises(InputError, match="suffice resume without a name"):
        local.load_request(name, tmp_path)
