"""Read files in child processes with limits, so that a hostile or broken file cannot hurt this process.

Every file is read this way, because most parsers are not linear in every case and all of them are faster in several processes.
What a file may use grows with its size: a linear parser is never stopped on a large file, and a small file that expands is.
"""

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from msgspec import structs

from suffice.errors import SufficeError
from suffice.search.files import ocr
from suffice.search.files.chunk import MAX_BYTES, Document, ScannedFile, UnreadableFile, get_suffix
from suffice.search.files.decode import load_bytes
from suffice.search.files.pdf import PagePicture
from suffice.search.isolation.jobs import IsolatedJob, JobFailed, Limits
from suffice.search.isolation.pool import choose_worker_count, get_pool

_READER = "suffice.search.files.read"
_MB = 1024 * 1024
_BASE_MEMORY = 1024 * _MB  # Ten times what the libraries and a usual file need.
_MEMORY_PER_BYTE = 24  # A text of 4 bytes a character, its lines, its chunks and the answer, all at once.
_MAX_MEMORY = 4096 * _MB
_OCR_MEMORY = 3072 * _MB
_BASE_CPU_SECONDS = 20
_CPU_SECONDS_PER_MB = 5  # The slowest reader takes a fifth of this on a slow core.
_SLOW_FILE_SECONDS = 120  # Of processor time, for all files together that reach their limit.
_SHORT_CPU_SECONDS = 2  # For each file after that; nearly every real one needs less.
_WALL_CLOCK_FACTOR = 6  # On a busy machine a process gets a small part of a core.
_OUTPUT_BYTES = 3 * MAX_BYTES


def read_documents(
    paths: Sequence[Path], check_cancelled: Callable[[], None] = lambda: None
) -> Iterator[Document | UnreadableFile]:
    """Yield the files as documents, in order; a file that cannot be read as its error.

    Files that reach their limit on processor time share a budget: when it is spent, every further file has only two seconds.
    """
    budget = _SlowFileBudget()
    jobs, workers = map(_make_job, paths), choose_worker_count(len(paths))
    results = get_pool().run_all(jobs, Document, check_cancelled, max_workers=workers, start=budget.limit)
    for path, result in zip(paths, results, strict=True):
        document = budget.check_result(result, str(path))
        needs_ocr = document.needs_ocr if isinstance(document, Document) else isinstance(document, ScannedFile)
        if needs_ocr and ocr.is_installed():
            document = _read_with_ocr(path, document, check_cancelled)
        yield document


def read_isolated(path: Path) -> Document:
    (document,) = read_documents([path])
    if isinstance(document, UnreadableFile):
        raise document
    return document


def read_isolated_text(text: str, name: str, check_cancelled: Callable[[], None]) -> Document | UnreadableFile:
    """Return a text, such as standard input, as a document; the suffix of ``name`` decides the format."""
    data = text.encode("utf-8", "replace")
    job = IsolatedJob(f"{_READER}:read_data", (data, name), get_limits(len(data)))
    (result,) = get_pool().run_all([job], Document, check_cancelled)
    return _check_result(result, name)


def draw_isolated(path: Path, page: int, quotes: Sequence[tuple[str, str]]) -> PagePicture:
    """Return a page of a PDF file as a picture with the boxes of quotes."""
    limits = get_limits(path.stat().st_size)
    job = IsolatedJob("suffice.search.files.pdf:render_page", (str(path), page, quotes), limits)
    try:
        return get_pool().run(job, PagePicture)
    except JobFailed as error:
        raise UnreadableFile(f"{path} {error}") from error


def get_limits(size: int) -> Limits:
    """Return what reading a file of this size may use."""
    memory = min(_BASE_MEMORY + _MEMORY_PER_BYTE * size, _MAX_MEMORY)
    return _make_limits(memory, _BASE_CPU_SECONDS + _CPU_SECONDS_PER_MB * size // _MB)


def _make_limits(memory: int, cpu_seconds: int) -> Limits:
    return Limits(memory, cpu_seconds, float(cpu_seconds * _WALL_CLOCK_FACTOR), _OUTPUT_BYTES)


def get_reader_version(name: str) -> str:
    """Return what else than the file decides how it is read: whether OCR is installed, for PDF files."""
    return ":ocr" if get_suffix(name) == ".pdf" and ocr.is_installed() else ""


def _read_with_ocr(
    path: Path, without: Document | UnreadableFile, check_cancelled: Callable[[], None]
) -> Document | UnreadableFile:
    """Read a file again with OCR, which may use more; return it as it was without OCR if that fails."""
    job = _make_path_job(path, _make_limits(_OCR_MEMORY, 2 * ocr.OCR_SECONDS), use_ocr=True)
    try:
        return get_pool().run(job, Document, check_cancelled)
    except UnreadableFile as error:
        return error
    except JobFailed as error:
        if isinstance(without, Document):
            return replace(without, remark=f"{without.remark}; OCR {error}")
        return UnreadableFile(f"{path} looks scanned, and OCR {error}; leave it out.")


class _SlowFileBudget:
    """The processor seconds that files of one reading may waste before the others get less."""

    def __init__(self) -> None:
        self._seconds_left = _SLOW_FILE_SECONDS

    def limit(self, job: IsolatedJob) -> IsolatedJob:
        """Return a job with what it may use if it begins now."""
        short = _make_limits(job.limits.memory_bytes, _SHORT_CPU_SECONDS)
        return job if self._seconds_left > 0 else structs.replace(job, limits=short)

    def check_result(self, result: Document | JobFailed | SufficeError, name: str) -> Document | UnreadableFile:
        if isinstance(result, JobFailed) and result.kind == "time":
            self._seconds_left -= result.cpu_seconds
            if result.cpu_seconds == _SHORT_CPU_SECONDS:
                return UnreadableFile(
                    f"{name} {result}, and other slow files have used up the {_SLOW_FILE_SECONDS} s that files may take "
                    "together; name it alone to give it more time."
                )
        return _check_result(result, name)


def _make_job(path: Path) -> IsolatedJob:
    try:
        status = os.stat(path)
        if not stat.S_ISREG(status.st_mode):
            # A pipe, such as the shell's <(command), exists in this process only.
            data = load_bytes(path)
            return IsolatedJob(f"{_READER}:read_data", (data, str(path)), get_limits(len(data)))
        size = min(status.st_size, MAX_BYTES)
    except (OSError, UnreadableFile):
        size = 0  # The reader finds the reason.
    return _make_path_job(path, get_limits(size))


def _make_path_job(path: Path, limits: Limits, use_ocr: bool = False) -> IsolatedJob:
    folder = "" if path.is_absolute() else os.getcwd()
    return IsolatedJob(f"{_READER}:read_document", (str(path), use_ocr), limits, folder)


def _check_result(result: Document | JobFailed | SufficeError, name: str) -> Document | UnreadableFile:
    match result:
        case Document() | UnreadableFile():
            return result
        case JobFailed():
            return UnreadableFile(f"{name} {result}; leave it out, or save it again in another format.")
        case _:
            raise result
