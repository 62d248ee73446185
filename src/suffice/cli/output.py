"""Write messages to standard error and reports to files."""

import errno
import os
import shutil
import sys
from pathlib import Path

from suffice.errors import InputError
from suffice.types import Report

_REPORT_SUFFIXES = (".md", ".html", ".json")


def print_error(message: str, status: int = 1) -> int:
    """Print one line to standard error, also in quiet mode, and return the exit status."""
    print(f"suffice: {' '.join(message.split())}", file=sys.stderr)
    return status


def print_note(message: str) -> None:
    """Print a line for the user to standard error."""
    print(" ".join(message.split()), file=sys.stderr)


def render_report(report: Report, suffix: str) -> str:
    """Render the report as Markdown, HTML or JSON, by file ending."""
    if suffix == ".json":
        from suffice.storage.report_json import dumps

        return dumps(report)
    if suffix == ".html":
        from suffice.report.html import render_html

        return render_html(report)
    from suffice.report.markdown import render_markdown

    return render_markdown(report)


def validate_report_path(path: Path, name: str = "--out") -> None:
    """Raise ``InputError`` if no report can be written there; called before a run spends anything.

    ``name`` is the option or argument that the user gave.
    """
    if path.suffix.lower() not in _REPORT_SUFFIXES:
        raise InputError(f"{name} {path}: the file ending sets the format; use one of {', '.join(_REPORT_SUFFIXES)}")
    if path.is_dir():
        raise InputError(f"{name} {path} is a folder; name a file")
    if not path.parent.is_dir():
        raise InputError(f"{name} {path}: the folder {path.parent} does not exist; create it first")


def write_file(path: Path, text: str | bytes, name: str = "--out") -> None:
    """Write the file whole or not at all; raise ``InputError`` if that fails."""
    data = text.encode("utf-8") if isinstance(text, str) else text
    target = path.resolve()  # What a link names is replaced, not the link.
    try:
        if target.exists() and not target.is_file():  # A pipe or a device.
            target.write_bytes(data)
        else:
            _replace_file(target, data)
    except OSError as error:
        raise InputError(f"{name} {path} cannot be written: {error.strerror}") from error


def _replace_file(target: Path, data: bytes) -> None:
    """Write the data beside the file, then put it in its place."""
    beside = target.with_name(f".{target.name[:200]}.{os.getpid()}.tmp")
    try:
        with beside.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, beside)
        beside.replace(target)
    except OSError as error:
        beside.unlink(missing_ok=True)
        if error.errno not in (errno.EACCES, errno.EPERM, errno.EBUSY, errno.EROFS) or not target.exists():
            raise
        target.write_bytes(data)  # Only the file may be written, not its folder, as one mounted into a container.
