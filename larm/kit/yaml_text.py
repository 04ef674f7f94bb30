"""Texts that a person wrote, as Python's values: YAML without its surprises. Used on the main thread.

YAML's library lets the last of two equal keys win, so that a setting which somebody reads in a file need not be the one that
counts; here that is a mistake with two line numbers.
"""

import os
import re
import stat
from itertools import accumulate
from pathlib import Path
from typing import Any

LARGEST = 1_000_000
"""Bytes; config.yaml with all its comments has 30,000."""
_DEEPEST = 200
"""Brackets in each other."""


class _TwiceError(ValueError):
    """A key is there twice."""


def read_text(path: Path) -> str:
    """A small file of UTF-8. Raises OSError, and ValueError saying why it is not read: a pipe would never end."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)  # or a pipe without a writer would hold us up here
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ValueError("it is no file, but a directory, a pipe or a device")
    with open(descriptor, "rb") as file:
        data = file.read(LARGEST + 1)
    if len(data) > LARGEST:
        raise ValueError(f"it is larger than {LARGEST:,} bytes")
    return data.decode()


def parse_yaml(text: str) -> Any:
    """Its value. Raises ValueError, with one line that says where."""
    import yaml  # 8 ms, where there is a file, or -s

    class Loader(yaml.SafeLoader):
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            seen: dict[object, int] = {}
            for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
                line, name = key.start_mark.line + 1, key.value if isinstance(key, yaml.ScalarNode) else None
                if name in seen and name != "<<":
                    raise _TwiceError(f"line {line}: the key {name} is there twice, first in line {seen[name]}")
                if name is not None:
                    seen[name] = line
            return super().construct_mapping(node, deep)

    opened = accumulate(1 if sign in "[{" else -1 for sign in re.findall(r"[][{}]", text))
    try:
        if max(opened, default=0) > _DEEPEST:  # the library takes seconds to find that out
            raise RecursionError
        return yaml.load(text, Loader)  # noqa: S506  a SafeLoader
    except _TwiceError:
        raise
    except yaml.MarkedYAMLError as error:
        raise ValueError(f"not YAML: {_cause(error)}") from error
    except yaml.reader.ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        raise ValueError(f"not YAML: line {line}: it has the control character U+{ord(text[error.position]):04X}") from error
    except RecursionError as error:
        raise ValueError("not YAML: it is nested too deeply") from error
    except ValueError as error:
        raise ValueError(f"not YAML: {error}") from error


def _cause(error: Any) -> str:
    """Place and cause in a sentence, without the excerpt that the library draws on lines of its own."""
    mark, problem = error.problem_mark, error.problem
    began = error.context_mark
    if "'\\t'" in problem:
        problem = "there is a tab, and YAML is indented by spaces alone"
    elif began is not None and (began.line, began.column) != (mark.line, mark.column):
        problem = f"{error.context} that begins in line {began.line + 1}: {problem}"
    return f"line {mark.line + 1}, column {mark.column + 1}: {problem}"
