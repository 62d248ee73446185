"""Read the text of scanned pages, if the extra ``ocr`` is installed. Its models come with the package; nothing is fetched."""

import time
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

OCR_SECONDS = 600  # CPU time for one file; a page takes a few seconds.
RENDER_SCALE = 150 / 72  # 150 dots for each inch, enough for print; a point is a 72nd of an inch.
_MIN_SCORE = 0.5


@cache
def is_installed() -> bool:
    """Whether the extra is installed. It is not imported for that, because this takes seconds."""
    return find_spec("rapidocr") is not None


class PageRecognizer:
    """Reads pictures of pages until the time for one file is used up."""

    def __init__(self) -> None:
        from rapidocr import RapidOCR

        self._started = time.process_time()
        self._engine: Any = RapidOCR()

    def has_time(self) -> bool:
        """Whether another page may be read."""
        return time.process_time() - self._started < OCR_SECONDS

    def read(self, picture: "NDArray[Any]") -> str:
        """Return the text of a page, one line of print on each line."""
        result = self._engine(picture)
        if result is None or result.boxes is None:
            return ""
        found = zip(result.boxes, result.txts, result.scores, strict=True)
        boxes = [
            (min(corner[1] for corner in box), max(corner[1] for corner in box), min(corner[0] for corner in box), text)
            for box, text, score in found
            if score >= _MIN_SCORE and text.strip()
        ]
        return "\n".join(" ".join(text for _, _, _, text in line) for line in _group_lines(boxes))


_Box = tuple[float, float, float, str]  # Top, bottom, left, text.


def _group_lines(boxes: list[_Box]) -> list[list[_Box]]:
    """Return the boxes line by line: a box whose middle lies within the first box of a line belongs to it."""
    lines: list[list[_Box]] = []
    for box in sorted(boxes, key=lambda box: (box[0] + box[1]) / 2):
        middle = (box[0] + box[1]) / 2
        if lines and lines[-1][0][0] <= middle <= lines[-1][0][1]:
            lines[-1].append(box)
        else:
            lines.append([box])
    return [sorted(line, key=lambda box: box[2]) for line in lines]
