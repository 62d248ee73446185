"""Links from a source to its file: ``file://`` or an editor, as ``SUFFICE_LINKS`` says."""

import re
from pathlib import Path
from urllib.parse import quote

from suffice.report.answer_html import is_http_url
from suffice.types import Report, Source

_LINES = re.compile(r":(\d+)-\d+$")
_OTHER_PLACE = re.compile(r"(?::(?:p\d|slide |sheet |message |chapter )|#).*", re.DOTALL)


def make_source_link(report: Report, source: Source, template: str) -> str | None:
    """Return where a viewer can open the source; ``None`` if it is neither a web page nor an existing file.

    ``template`` has ``{path}`` and may have ``{line}``; empty means that files are not linked.
    """
    if is_http_url(source.url):
        return source.url
    if not template:
        return None
    lines = _LINES.search(source.location)
    name = source.location[: lines.start()] if lines else _OTHER_PLACE.sub("", source.location)
    searched = report.metadata.get("searched")
    folder = searched.get("from") if isinstance(searched, dict) else None
    path = Path(folder if isinstance(folder, str) else ".") / name
    if not path.is_file():
        return None
    line = lines[1] if lines else "1"
    return template.replace("{path}", quote(str(path.resolve()))).replace("{line}", line)
