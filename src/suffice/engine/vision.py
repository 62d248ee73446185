"""Pictures that a task names: found in its words, read from disk and checked. Nothing is shown to a model here.

A picture is meant by the name of a file that is there, by a path, or by an address on the web. A name in backticks is only a
name: ``Where is `logo.png` used?`` A bare name of no file is only a name too.
"""

import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path, PurePath

from suffice.errors import InputError, ModelError
from suffice.prompts import DescribeImage
from suffice.search.screened import strip_injections
from suffice.state.run import RunState
from suffice.types import Hits, Image, Passage, Place, Query, Round

MAX_IMAGES = 8
MAX_IMAGE_BYTES = 5_000_000  # What the strictest provider takes of one picture.
_EXTENSION = r"\.(?:png|jpe?g|gif|bmp|webp)"
_IMAGE_REFERENCE = re.compile(
    rf"""`[^`]*`  # only a name
    |(?P<address>https?://[^\s"'<>`]+?{_EXTENSION}(?:\?[^\s"'<>`]*)?(?![\w/]))
    |https?://\S+  # any other address
    |"(?P<double>[^"\n]+{_EXTENSION})" | '(?P<single>[^'\n]+{_EXTENSION})'
    |(?P<word>[^\s"'<>`()\[\],;]+{_EXTENSION})(?!\w)""",
    re.IGNORECASE | re.VERBOSE,
)
_MEDIA_TYPES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"BM": "image/bmp",
}


def find_images(task: str, folder: Path, *, offline: bool) -> tuple[Image, ...]:
    """The pictures that the task names, each once; what is meant and cannot be read is an ``InputError``."""
    found: dict[str, Image] = {}
    for match in _IMAGE_REFERENCE.finditer(task):
        if address := match["address"]:
            if offline:
                raise InputError(
                    f"SUFFICE_OFFLINE is set, so {address} cannot be looked at; save the picture and name its file"
                )
            found[address] = Image(address, _guess_media_type(address))
        elif name := match["double"] or match["single"] or match["word"]:
            path = folder / os.path.expanduser(name)
            if os.path.isfile(path):  # Unlike the path's own method, it is not upset by an impossible name.
                found[name] = _read_image(name, path)
            elif "/" in name or "\\" in name:
                raise InputError(f"The picture {name} is not there; check its path, or put the name in `backticks`")
    if len(found) > MAX_IMAGES:
        raise InputError(f"The question names {len(found)} pictures, at most {MAX_IMAGES} are looked at")
    return tuple(found.values())


def _read_image(name: str, path: Path) -> Image:
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= MAX_IMAGE_BYTES else b""
    except OSError as error:
        raise InputError(f"The picture {name} cannot be read ({error.strerror})") from error
    if size > MAX_IMAGE_BYTES:
        raise InputError(
            f"The picture {name} has {size:,} bytes, at most {MAX_IMAGE_BYTES:,} are read; make it smaller"
        )
    kind = next((kind for mark, kind in _MEDIA_TYPES.items() if data.startswith(mark)), None)
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        kind = "image/webp"
    if kind is None:
        raise InputError(f"{name} is no picture that can be read: PNG, JPEG, GIF, BMP and WebP are")
    return Image(name, kind, hashlib.sha256(data).hexdigest(), data)


def _guess_media_type(address: str) -> str:
    ending = re.search(_EXTENSION, address, re.IGNORECASE)
    assert ending is not None, "the pattern ends with it"
    return f"image/{ending[0][1:].lower().replace('jpg', 'jpeg')}"


async def describe_images(run: RunState, images: Sequence[Image]) -> None:
    """Ask once a picture. A picture that cannot be seen ends the run: the task is about it."""
    seen = tuple([await _describe_image(run, image) for image in images])
    if seen:
        hits = Hits(Query(run.task, "the pictures that the task names"), seen)
        await run.admit(Round(0, (hits,), seen, seen))
        run.pinned_ids |= {passage.id for passage in seen}


async def _describe_image(run: RunState, image: Image) -> Passage:
    try:
        text = (await run.ask(DescribeImage(run.task, image))).text.strip()
    except ModelError as error:
        raise ModelError(
            f"{image.name} could not be looked at: {error}; if the model has no eyes, name one that has: SUFFICE_MODEL_LOOK"
        ) from error
    if not text:
        raise ModelError(f"{run.model.name} saw nothing in {image.name}; try another model: SUFFICE_MODEL_LOOK")
    passage = Passage(image.name, text, PurePath(image.name).name, Place(image.name, exact=False), "image")
    return strip_injections(passage, run.event_queue.add)
