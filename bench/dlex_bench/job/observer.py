# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the observer beside a job: it records which picture was on the screen at what time, and where the sound was."""

from __future__ import annotations

import contextlib
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from ..errors import LabError
from ..processes import child, last_words
from ..rig.players.player import log_of
from ..rig.stage import Stage
from .setting import Setting

PROGRAM = "bench/observer/dlex-bench-observe"
SEEN = "seen"
LOG = "observer.log"
START_LIMIT_S = 30.0
# The observer writes what it has seen when it is asked to end.
WRITING_LIMIT_S = 60.0
# What it says, among other words, where no picture was shown.
SAW_NOTHING = "no stamped picture"
POLL_S = 0.5


@contextlib.contextmanager
def observing(setting: Setting, stage: Stage) -> Iterator[Callable[[], None]]:
    """Runs the observer; the block begins when the observer sees the screen.

    Yields a function that raises when the observer has died. The observer's record exists after the block.
    """
    log_path = setting.directory / LOG
    with log_path.open("wb") as log:
        argv = _command(setting, stage)
        with child(argv, cpus=setting.device_cpus, env=stage.environment, stdout=subprocess.PIPE, stderr=log) as observer:

            def check() -> None:
                if observer.poll() is not None:
                    raise LabError(f"the observer {_ending(observer, log_path)}; run the job again")

            _wait_until_ready(observer, check)
            yield check
            check()
            _let_it_write(observer, log_path, setting)


def _command(setting: Setting, stage: Stage) -> list[str | Path]:
    facts = setting.facts
    return [
        setting.context.program(PROGRAM),
        f"--screen={stage.display.screen_file}",
        f"--size={facts.width}x{facts.height}",
        f"--sound={stage.sound.monitor}",
        f"--frames={setting.frames}",
        f"--frame-ns={facts.frame_ns if facts.is_steady else 0}",  # 0: it is not checked
        f"--first-pts-ns={setting.first_pts_ns}",
        f"--media={setting.clip}",
        f"--out={setting.directory / SEEN}",
    ]


def _wait_until_ready(observer: subprocess.Popen[bytes], check: Callable[[], None]) -> None:
    assert observer.stdout is not None
    limit = time.monotonic() + START_LIMIT_S
    with selectors.DefaultSelector() as selector:
        selector.register(observer.stdout, selectors.EVENT_READ)
        while not selector.select(POLL_S):
            check()
            if time.monotonic() > limit:
                raise LabError(f"the observer is not ready after {START_LIMIT_S:.0f} s; the machine is too busy")
    if not observer.stdout.readline():
        observer.wait()
        check()


def _let_it_write(observer: subprocess.Popen[bytes], log: Path, setting: Setting) -> None:
    observer.send_signal(signal.SIGTERM)
    try:
        status = observer.wait(WRITING_LIMIT_S)
    except subprocess.TimeoutExpired as cause:
        raise LabError(f"the observer did not write its record within {WRITING_LIMIT_S:.0f} s; try again") from cause
    if status and SAW_NOTHING in last_words(log):
        raise LabError(
            f"{setting.adapter.name} showed no picture with a number, unscaled in the upper left corner of the screen; see "
            f"{log_of(setting.directory).name}, or play the clip by hand"
        )
    if status:
        raise LabError(f"the observer {_ending(observer, log)}; run the job again")


def _ending(observer: subprocess.Popen[bytes], log: Path) -> str:
    return f"ended with status {observer.returncode} ({last_words(log) or 'no message'})"
