# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finding the share of the CPU that makes the player late, but not hopelessly so.

The clip is decoded once alone, which gives the cost of each picture; a model of the serial player tells the share with
which `none` ends 15 % of the played time late; one to three plays beside the load correct it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .errors import DemoError
from .load import SEED_UTILISATION, measure_ns_per_loop
from .model import AIM, corrected_share, share_for
from .record import frame_duration_s
from .runs import NONE, Run, Scene, Tick, play, play_loaded

# The filler cannot take less than nothing, and needs a little room to even out rt-app's tasks.
SHARE_MAX = 1 - SEED_UTILISATION - 0.03
# Below this the player would mostly run on crumbs of the scheduler.
SHARE_MIN = 0.01
# Decoding beside others costs this much more than alone, by their use of the caches (0.97 to 1.2 was seen).
BESIDE_OTHERS = 1.07
# Outside this the check says that the machine did something else than at the calibration.
USABLE = (0.04, 0.40)


@dataclass(frozen=True)
class Try:
    share: float
    end_late_fraction: float
    share_left: float | None

    @property
    def good(self) -> bool:
        """Near enough to the aim for another try to tell nothing new."""
        return abs(self.end_late_fraction - AIM) <= 0.03


@dataclass
class Calibration:
    ns_per_loop: int
    demand_alone: float
    frame_s: float
    share: float = 0.0
    tries: list[Try] = field(default_factory=list)
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "seed_utilisation": SEED_UTILISATION, "aim": AIM}


def choose_cpus() -> tuple[int, frozenset[int]]:
    """The CPU that is measured, the highest allowed one, and those for everything else (the same if there is no other).

    Interrupts mostly go to the lowest.
    """
    allowed = sorted(os.sched_getaffinity(0))
    measured = allowed[-1]
    return measured, frozenset(allowed[:-1] or allowed)


def calibrate(scene: Scene, folder: Path, max_tries: int, *, say: Callable[[str], None], tick: Tick) -> Calibration:
    begun = time.monotonic()
    alone = play(scene, NONE, folder / "alone", tick=tick, options=["--untimed"])
    costs_s = [frame.decode_cpu_ns / 1e9 for frame in alone.frames]
    result = Calibration(
        ns_per_loop=measure_ns_per_loop(scene.cpu, folder / "rt-app"),
        demand_alone=sum(costs_s) / scene.length_s,
        frame_s=frame_duration_s(alone.frames),
    )
    wanted_s = AIM * scene.length_s
    share = BESIDE_OTHERS * share_for(costs_s, result.frame_s, wanted_s)
    _require_load_possible(share, result.demand_alone)
    say(f"    alone, decoding takes {result.demand_alone:.1%} of the CPU; first try: leave the player {share:.1%}")
    for number in range(1, max_tries + 1):
        share = min(max(share, SHARE_MIN), SHARE_MAX)
        run = play_loaded(scene, NONE, folder / f"try-{number}", share, result.ns_per_loop, tick=tick)
        result.tries.append(_outcome(run, share, scene.length_s))
        late = result.tries[-1].end_late_fraction
        say(f"    with {share:.1%} left, `none` ends {late:.0%} of the played time late (wanted: {AIM:.0%})")
        seen = [(known.share, known.end_late_fraction * scene.length_s) for known in result.tries]
        share = corrected_share(costs_s, result.frame_s, seen, wanted_s)
        if result.tries[-1].good:
            break
    result.share = _conclude(result.tries, share)
    result.seconds = time.monotonic() - begun
    return result


def _outcome(run: Run, share: float, length_s: float) -> Try:
    return Try(share, run.end_skew_ms / 1e3 / length_s, run.load.left if run.load else None)


def _conclude(tries: list[Try], next_share: float) -> float:
    """The share that the tries tell, unless even the last one makes no sense."""
    last = tries[-1]
    if not USABLE[0] <= last.end_late_fraction <= USABLE[1]:
        raise DemoError(
            f"the load cannot be set on this machine (without drops the player ended {last.end_late_fraction:.0%} of "
            "the played time late, 10 to 20 % are wanted); close other programs and try again"
        )
    return min(max(next_share, SHARE_MIN), SHARE_MAX)


def _require_load_possible(share: float, demand: float) -> None:
    if share > SHARE_MAX:
        raise DemoError(
            f"the clip needs {demand:.0%} of this CPU, more than rt-app's two tasks leave; the demo wants a faster "
            "machine or, by --clip=FILE, a film that is easier to decode"
        )
    if share < SHARE_MIN:
        raise DemoError(
            f"the clip needs only {demand:.1%} of this CPU, too little to be disturbed; give a film that is harder to "
            "decode by --clip=FILE"
        )
