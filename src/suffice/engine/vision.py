"""Images that a task refers to: find them in its text, read them, and have the model describe them as evidence.

A task refers to an image by the name of an existing file or by a path. A name in backticks is only a name (``Where is
`logo.png` used?``), and so is a web address and a bare name of a file that does not exist.
"""

import hashlib
import os
import re
from collections.abc import Sequence
from pathlib import Path, PurePath

from suffice.errors import InputError, ModelError
from suffice.prompts.vision import DescribeImage
from suffice.search.screened import strip_injections
from suffice.state.run import RunState
from suffice.types import Hits, Image, Passage, Place, Query, Round

MAX_IMAGES = 8
MAX_IMAGE_BYTES = 5_000_000  # The limit of the strictest provider.
_EXTENSION = r"\.(?:png|jpe?g|gif|bmp|webp)"
_IMAGE_REFERENCE = re.compile(
    rf"""`[^`]*`  # a name in backticks
    |https?://\S+
    |"(?P<double>[^"\n]+{_EXTENSION})" | '(?P<single>[^'\n]+{_EXTENSION})'
    |(?P<word>[^\s"'<>`()\[\],;]++)  # possessive: with the ending in this pattern, a long word would take quadratic time
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ENDS_WITH_IMAGE = re.compile(rf".*\S{_EXTENSION}(?!\w)", re.IGNORECASE)
_MEDIA_TYPES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
    b"BM": "image/bmp",
}


def find_images(task: str, folder: Path) -> tuple[Image, ...]:
    """Return the images that the task refers to, each once; raise ``InputError`` for one that cannot be read."""
    found: dict[str, Image] = {}
    for match in _IMAGE_REFERENCE.finditer(task):
        word = _ENDS_WITH_IMAGE.match(match["word"] or "")  # ``a.png`` of ``a.png.``
        if name := match["double"] or match["single"] or (word[0] if word else ""):
            path = folder / os.path.expanduser(name)
            if os.path.isfile(path):  # Unlike Path.is_file, it does not raise for an impossible name.
                found[name] = _read_image(name, path)
            elif "/" in name or "\\" in name:
                raise InputError(f"The image {name} does not exist; check its path, or put the name in `backticks`")
    if len(found) > MAX_IMAGES:
        raise InputError(f"The question refers to {len(found)} images; at most {MAX_IMAGES} are supported")
    return tuple(found.values())


def _read_image(name: str, path: Path) -> Image:
    try:
        size = path.stat().st_size
        data = path.read_bytes() if size <= MAX_IMAGE_BYTES else b""
    except OSError as error:
        raise InputError(f"The image {name} cannot be read ({error.strerror})") from error
    if size > MAX_IMAGE_BYTES:
        raise InputError(
            f"The image {name} has {size:,} bytes; at most {MAX_IMAGE_BYTES:,} are supported, so make it smaller"
        )
    media_type = next((kind for magic, kind in _MEDIA_TYPES.items() if data.startswith(magic)), None)
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        media_type = "image/webp"
    if media_type is None:
        raise InputError(f"{name} is not a PNG, JPEG, GIF, BMP or WebP image")
    return Image(name, media_type, hashlib.sha256(data).hexdigest(), data)


async def describe_images(run: RunState, images: Sequence[Image]) -> None:
    """Have the model describe each image and add the descriptions to the evidence.

    An image that cannot be described ends the run with ``ModelError``: the task is about it.
    """
    passages = tuple([await _describe_image(run, image) for image in images])
    if passages:
        hits = Hits(Query(run.task, "the pictures that the task names"), passages)
        await run.admit(Round(0, (hits,), passages, passages))
        run.pin_passages(passage.id for passage in passages)


async def _describe_image(run: RunState, image: Image) -> Passage:
    try:
        text = (await run.ask(DescribeImage(run.task, image))).text.strip()
    except ModelError as error:
        raise ModelError(
            f"The model could not describe {image.name}: {error}; if it does not support images, set SUFFICE_MODEL_LOOK "
            "to one that does"
        ) from error
    if not text:
        raise ModelError(
            f"{run.model.name} returned no description of {image.name}; set SUFFICE_MODEL_LOOK to another model"
        )
    passage = Passage(image.name, text, PurePath(image.name).name, Place(image.name, exact=False), "image")
    return strip_injections(passage, run.event_queue.add)
