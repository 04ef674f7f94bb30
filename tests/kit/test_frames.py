"""Frames come through a pipe as they were written, whatever pieces it makes of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from larm.kit.processes.frames import KEPT, Frames, framed, write_some


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    reader, writer = os.pipe()
    yield reader, writer
    for end in (reader, writer):
        try:
            os.close(end)
        except OSError:
            assert end == writer


def test_what_was_written_comes_out_in_its_order(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    sizes = [0, 1, 5, 100_000, KEPT - 10, KEPT + 10, 0, 3 * KEPT, 7]
    sent = [bytes([number]) * size for number, size in enumerate(sizes)]

    def write() -> None:
        for data in sent:
            rest = framed(data)
            while rest:
                write_some(writer, rest)
        os.close(writer)

    frames, came = Frames(), []
    with ThreadPoolExecutor(1) as beside:
        writing = beside.submit(write)
        while frames.take(reader):
            while frames.whole:
                came.append(frames.pop(bytes))
        writing.result()
    assert came == sent
    assert (frames.size, frames.whole) == (None, False)


@settings(max_examples=300)
@given(
    st.lists(st.binary(max_size=40), max_size=12),
    st.lists(st.integers(1, 60), min_size=1),
    st.lists(st.booleans(), min_size=1),
    st.integers(1, 90),
)
def test_any_pieces(sent: list[bytes], pieces: list[int], popped: list[bool], room: int) -> None:
    """With so little room that what is there has to be moved; who sends takes answers, and pops them later."""
    stream = b"".join(bytes(view) for data in sent for view in framed(data))
    frames, came = Frames(), []
    reader, writer = os.pipe()
    os.set_blocking(reader, False)
    try:
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr("larm.kit.processes.frames._FREE", room)
            turn = 0
            while stream:
                cut = pieces[turn % len(pieces)]
                os.write(writer, stream[:cut])
                stream = stream[cut:]
                while True:
                    try:
                        assert frames.take(reader), "the pipe has not ended"
                    except BlockingIOError:
                        break
                    turn += 1
                    while frames.whole and popped[turn % len(popped)]:
                        came.append(frames.pop(bytes))
            while frames.whole:
                came.append(frames.pop(bytes))
    finally:
        os.close(reader)
        os.close(writer)
    assert came == sent


def test_the_memory_of_a_large_frame_is_not_kept(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    frames = Frames()
    os.write(writer, (KEPT * 2).to_bytes(4, "big"))
    assert frames.take(reader)
    assert (frames.size, frames.whole) == (KEPT * 2, False)
    for _ in range(2 * KEPT // 50_000):
        os.write(writer, b"x" * 50_000)
        assert frames.take(reader)
    assert len(frames._room) > KEPT
    assert frames.pop(len) == KEPT * 2
    assert not frames._room


def test_a_frame_that_can_not_be_read_is_gone(pipe: tuple[int, int]) -> None:
    reader, writer = pipe
    for data in (b"bad", b"good"):
        write_some(writer, framed(data))
    frames = Frames()
    assert frames.take(reader)

    def refuse(_frame: memoryview) -> bytes:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        frames.pop(refuse)
    assert frames.pop(bytes) == b"good"


def test_what_finds_no_room_is_left(pipe: tuple[int, int]) -> None:
    _, writer = pipe
    os.set_blocking(writer, False)
    rest = framed(b"x" * 10_000_000)
    write_some(writer, rest)
    assert 0 < sum(map(len, rest)) < 10_000_000
    with pytest.raises(BlockingIOError):
        write_some(writer, rest)
