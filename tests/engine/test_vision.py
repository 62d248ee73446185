"""Which images a task refers to, and which names are only names."""

import struct
import zlib
from contextlib import suppress
from pathlib import Path
from time import process_time

import pytest

from suffice.engine.vision import MAX_IMAGE_BYTES, find_images
from suffice.errors import InputError


def png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")) + chunk(b"IEND", b"")
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "shots").mkdir()
    for name in ("chart.png", "shots/One More.PNG", "a-b.png"):
        (tmp_path / name).write_bytes(png())
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8\xff\xe0rest")
    (tmp_path / "old.bmp").write_bytes(b"BMrest")
    (tmp_path / "new.webp").write_bytes(b"RIFF\0\0\0\0WEBPrest")
    (tmp_path / "anim.gif").write_bytes(b"GIF89arest")
    (tmp_path / "words.png").write_text("no picture at all")
    (tmp_path / "empty.png").touch()
    (tmp_path / "huge.png").write_bytes(png() + bytes(MAX_IMAGE_BYTES))
    return tmp_path


def names(task: str, folder: Path) -> list[str]:
    return [image.name for image in find_images(task, folder)]


@pytest.mark.parametrize(
    ("task", "found"),
    [
        ("What does chart.png show?", ["chart.png"]),
        ("What does ./chart.png show, and (photo.jpg)?", ["./chart.png", "photo.jpg"]),
        ("Compare chart.png with chart.png.", ["chart.png"]),
        ("Read 'shots/One More.PNG' and \"a-b.png\"", ["shots/One More.PNG", "a-b.png"]),
        ("old.bmp, new.webp; anim.gif!", ["old.bmp", "new.webp", "anim.gif"]),
        ("Where is `chart.png` used?", []),
        ("Where is favicon.png used?", []),
        ("Why do people prefer .png to .jpg?", []),
        ("What is chart.pngx or chart.png2?", []),
        ("See https://example.org/a/b.png?size=2 and http://x.test/c.JPG.", []),
        ("See https://example.org/b.png/page for more", []),
        ("No picture here", []),
        ("~nobody.png " + "x" * 5000 + ".png \0.png", []),
    ],
)
def test_images_that_a_task_refers_to(task: str, found: list[str], folder: Path) -> None:
    assert names(task, folder) == found


def test_an_image_has_its_bytes_and_media_type(folder: Path) -> None:
    kinds = {image.name: image for image in find_images("chart.png photo.jpg old.bmp new.webp anim.gif", folder)}
    assert [image.media_type.removeprefix("image/") for image in kinds.values()] == [
        "png",
        "jpeg",
        "bmp",
        "webp",
        "gif",
    ]
    assert kinds["chart.png"].data == png()
    assert "data" not in repr(kinds["chart.png"])


@pytest.mark.parametrize(
    ("task", "wrong"),
    [
        ("What is in shots/none.png?", "shots/none.png"),
        ("What is in /no/such/folder/x.jpeg?", "/no/such/folder/x.jpeg"),
        ("What is in words.png?", "words.png"),
        ("What is in empty.png?", "empty.png"),
        ("What is in huge.png?", "huge.png.*5,000,000"),
    ],
)
def test_an_image_that_cannot_be_read_is_an_error(task: str, wrong: str, folder: Path) -> None:
    with pytest.raises(InputError, match=wrong):
        names(task, folder)


def test_too_many_images_are_an_error(folder: Path) -> None:
    with pytest.raises(InputError, match="at most 8"):
        names(" ".join("./" * i + "chart.png" for i in range(9)), folder)


@pytest.mark.attack("questions that are slow to parse")
@pytest.mark.parametrize("piece", ["$1", "x@", "/a", "?", "“", "a.png/", "http://", "'a", '"a'])
def test_a_long_question_is_parsed_in_linear_time(piece: str, folder: Path) -> None:
    started = process_time()
    with suppress(InputError):
        names(piece * (20_000 // len(piece)), folder)
    assert process_time() - started < 1, "quadratic parsing takes many seconds"
