"""``suffice recheck``: find the claims of a receipt or a stored run whose sources changed, without a language model."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from suffice import settings
from suffice.cli.options import argument
from suffice.text.plain import count

if TYPE_CHECKING:
    from suffice.claims.receipts import RecheckedClaim


def recheck(
    target: str = argument(
        ..., "A file that 'suffice check --receipt' wrote, or a stored run ('last' is the newest).", "RUN|RECEIPT"
    ),
) -> int:
    """Find the claims whose sources changed, moved or vanished.

    The files that claims rest on are compared with the quotes; where a quote is gone, the reader judges its claim anew. No
    language model and no network is used. Run it in the folder where the receipt was written. The exit status is 1 if a
    claim that was supported no longer is.
    """
    from suffice.cli.terminal import run_interruptible

    rechecked = run_interruptible(_recheck(target))
    for one in rechecked:
        if one.state in ("moved", "changed", "vanished"):
            print(_describe(one))
    print(_summarize(rechecked))
    return int(any(one.is_lost for one in rechecked))


async def _recheck(target: str) -> "list[RecheckedClaim]":
    from suffice.claims.checker import default_checker
    from suffice.claims.receipts import SourceComparison, build_run_file, read_receipt
    from suffice.search.engines.address import is_address
    from suffice.storage.runs import find_run_dir, load_prior_run, load_report

    if Path(target).is_file():
        files = read_receipt(Path(target), "RECEIPT").files
        comparison = SourceComparison(Path(), default_checker(), may_be_remote=True)
        return [one for file in files for one in await comparison.recheck(file)]
    folder = find_run_dir(settings.load().data_dir, target)
    report = load_report(folder)
    searched = report.metadata.get("searched") or {}
    has_address = any(map(is_address, searched.get("docs", ())))
    comparison = SourceComparison(Path(searched.get("from") or "."), default_checker(), may_be_remote=has_address)
    return await comparison.recheck(build_run_file(report, load_prior_run(folder).evidence))


def _describe(one: "RecheckedClaim") -> str:
    line = f"{one.state:<9} “{' '.join(one.claim.text.split())}”\n          {one.span.location}"
    if one.state == "moved":
        return f"{line} → {one.location}"
    now = "still" if one.support == one.claim.support else "now"
    note = f": {one.note}" if one.note else ""
    return f"{line} said “{' '.join(one.span.quote.split())}”; {now} {one.support}{note}"


def _summarize(rechecked: "Sequence[RecheckedClaim]") -> str:
    states = Counter(one.state for one in rechecked)
    touched = {name: states[name] for name in ("moved", "changed", "vanished") if states[name]}
    total = count(len(rechecked), "claim")
    if not rechecked:
        summary = "No claim rests on a source."
    elif not touched:
        summary = f"No source of the {total} that rest on one changed."
    else:
        lost = sum(one.is_lost for one in rechecked)
        kinds = ", ".join(f"{number} {name}" for name, number in touched.items())
        holds = f"{lost or 'none'} no longer {'hold' if lost > 1 else 'holds'}"
        summary = f"Of {total} with a source, {sum(touched.values())} have one not as it was ({kinds}); {holds}."
    if states["remote"]:
        summary += f" {states['remote']} rest on sources that are not files of this machine and were not looked at."
    return summary
