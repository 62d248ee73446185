"""How much text was gathered: ``evidence.chars``, the characters of all accepted passages *before* this round.

S2's quality floor asks for it when a round is about to be refused, so the round itself does not count yet.
"""

from suffice.meters.base import Context, Moment, Sight
from suffice.types import Readings


class Volume:
    moment: Moment = "before"
    names: tuple[str, ...] = ("evidence.chars",)

    def __init__(self, context: Context = Context()) -> None:
        self._gathered: int | None = 0

    def read(self, sight: Sight) -> Readings:
        before = self._gathered
        if before is not None:
            known = [hit.text for hit in sight.new if hit.text is not None]
            self._gathered = before + sum(map(len, known)) if len(known) == len(sight.new) else None
        return {"evidence.chars": None if before is None else float(before)}
