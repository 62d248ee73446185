"""Looking at the pictures that a task names, before the search: what is seen becomes evidence, cited by the picture (S4)."""

from collections.abc import Sequence
from pathlib import PurePath

from suffice.asks import DescribeImage
from suffice.errors import ModelError
from suffice.run import RunState
from suffice.search.screening import strip_injections
from suffice.types import Hits, Image, Passage, Place, Query, Round


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
