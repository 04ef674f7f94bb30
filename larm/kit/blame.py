"""blamed: what a part of the user's own did wrong, and where in it: one line. Any thread."""

from pathlib import Path
from typing import Final

_OURS: Final = str(Path(__file__).parents[1])


def blamed(error: BaseException) -> str:
    """``ValueError: no such thing (my_filters.py, line 12)``: the last line that is not larm's; none, where there is none."""
    import traceback  # for mistakes alone

    what = f"{type(error).__name__}: {error}".splitlines()[0]
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if not frame.filename.startswith(_OURS)]
    theirs = [frame for frame in frames if "importlib" not in frame.filename]
    return f"{what} ({Path(theirs[-1].filename).name}, line {theirs[-1].lineno})" if theirs else what
