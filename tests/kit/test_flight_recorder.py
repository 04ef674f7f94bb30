"""What was going on when the process died."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from larm.kit.processes.flight_recorder import FlightRecorder


def test_a_killed_process_leaves_what_it_was_busy_with(tmp_path: Path) -> None:
    path = tmp_path / "inflight"
    program = (
        "import os, sys; from pathlib import Path; from larm.kit.processes.flight_recorder import FlightRecorder;"
        "recorder = FlightRecorder(Path(sys.argv[1]), 3); recorder.begin(0, 'a'); recorder.begin(2, 'é' * 2000);"
        "recorder.begin(1, 'done'); recorder.end(1); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    recorder = FlightRecorder(path, 2)
    assert recorder.left_over == ["a", "é" * 1023]
    recorder.close()
    recorder.close()
    assert not path.exists()


def test_a_clean_end_leaves_nothing(tmp_path: Path) -> None:
    recorder = FlightRecorder(tmp_path / "inflight", 1)
    recorder.begin(0, "x")
    recorder.end(0)
    recorder.close()
    recorder = FlightRecorder(tmp_path / "inflight", 1)
    assert recorder.left_over == []
    recorder.close()
