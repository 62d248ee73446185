"""How much text was gathered: ``evidence.chars``, the characters of all accepted passages *before* this round.

S2's quality floor asks for it when a round is about to be refused, so the round itself does not count yet.
"""

from suffice.meters.base import MeterContext, Moment, RoundView
from suffice.types import Readings


class VolumeMeter:
    moment: Moment = "before"
    names: tuple[str, ...] = ("evidence.chars",)

    def __init__(self, context: MeterContext = MeterContext()) -> None:
        self._total_chars: int | None = 0

    def read(self, view: RoundView) -> Readings:
        before = self._total_chars
        if before is not None:
            known = [hit.text for hit in view.new if hit.text is not None]
            self._total_chars = before + sum(map(len, known)) if len(known) == len(view.new) else None
        return {"evidence.chars": None if before is None else float(before)}
