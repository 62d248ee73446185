"""The prompt about an image."""

from suffice.prompts.base import Prompt, TextResponse
from suffice.types import Image


class DescribeImage(Prompt[TextResponse]):
    """What an image shows; the text becomes a passage with the image as source."""

    role = "look"
    output_format = "text"
    max_tokens = 1000

    task: str
    image: Image

    @property
    def images(self) -> tuple[Image, ...]:
        return (self.image,)
