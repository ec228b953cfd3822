# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finding the share of the CPU that makes the player late, but not hopelessly so.

The clip is decoded once alone, which gives the cost of each picture; a model of the serial player tells the share with
which `none` ends 15 % of the played time late; one to three plays beside the load correct it, and up to two
more when even the last of them makes no sense.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from ..beside.rtapp import SEED_UTILISATION, measure_ns_per_loop
from ..errors import DemoError, TimedOut, load_average
from .model import AIM, corrected_share, share_for
from ..record import frame_duration_s
from .runs import NONE, Scene, Tick, play, play_loaded

# The filler cannot take less than nothing, and needs a little room to even out rt-app's tasks.
SHARE_MAX = 1 - SEED_UTILISATION - 0.03
# Below this the player would mostly run on crumbs of the scheduler.
SHARE_MIN = 0.01
# Decoding beside others costs this much more than alone, by their use of the caches (0.97 to 1.2 was seen).
BESIDE_OTHERS = 1.07
# Outside this the check says that the machine did something else than at the calibration.
USABLE = (0.04, 0.40)
# Tries beyond those planned, as long as the last one is unusable.
EXTRA_TRIES = 2
# A try that did not end in time says only that the share was far too small.
STEP_AFTER_TIME_OUT = 1.5


@dataclass(frozen=True)
class Try:
    share: float
    end_late_fraction: float
    share_left: float | None
    timed_out: bool = False

    @property
    def good(self) -> bool:
        """Near enough to the aim for another try to tell nothing new."""
        return abs(self.end_late_fraction - AIM) <= 0.03

    @property
    def usable(self) -> bool:
        return not self.timed_out and USABLE[0] <= self.end_late_fraction <= USABLE[1]

    @property
    def too_late(self) -> bool:
        return self.end_late_fraction > AIM


@dataclass
class Calibration:
    ns_per_loop: float
    demand_alone: float
    frame_s: float
    share: float = 0.0
    tries: list[Try] = field(default_factory=list)
    seconds: float = 0.0

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "rtapp_utilisation": SEED_UTILISATION, "aim": AIM}


def calibrate(scene: Scene, folder: Path, max_tries: int, *, say: Callable[[str], None], tick: Tick) -> Calibration:
    begun = time.monotonic()
    alone = play(scene, NONE, folder / "alone", tick=tick, options=["--untimed"])
    costs_s = [frame.decode_cpu_ns / 1e9 for frame in alone.frames]
    result = Calibration(
        ns_per_loop=measure_ns_per_loop(scene.cpu, folder / "rt-app"),
        demand_alone=sum(costs_s) / scene.length_s,
        frame_s=frame_duration_s(alone.frames),
    )
    share = BESIDE_OTHERS * share_for(costs_s, result.frame_s, AIM * scene.length_s)
    _require_load_possible(share, result.demand_alone)
    say(f"    alone, decoding takes {result.demand_alone:.1%} of the CPU; first try: leave the player {share:.1%}")
    for number in range(1, max_tries + EXTRA_TRIES + 1):
        share = min(max(share, SHARE_MIN), SHARE_MAX)
        result.tries.append(_try(scene, folder / f"try-{number}", share, result.ns_per_loop, tick))
        say(f"    with {share:.1%} left, {_told(result.tries[-1])} (wanted: {AIM:.0%})")
        share = next_share(result.tries, costs_s, result.frame_s, scene.length_s)
        if enough(result.tries, share, max_tries):
            break
    result.share = _conclude(result.tries, share)
    result.seconds = time.monotonic() - begun
    return result


def _try(scene: Scene, folder: Path, share: float, ns_per_loop: float, tick: Tick) -> Try:
    """A play that does not end in time is a try as well: one that ended later than all that was waited."""
    try:
        run = play_loaded(scene, NONE, folder, share, ns_per_loop, tick=tick)
    except TimedOut as cause:
        return Try(share, cause.limit_s / scene.length_s - 1, None, timed_out=True)
    return Try(share, run.end_skew_ms / 1e3 / scene.length_s, run.load.left if run.load else None)


def _told(it: Try) -> str:
    if it.timed_out:
        return "`none` does not end in time"
    return f"`none` ends {it.end_late_fraction:.0%} of the played time late"


def next_share(tries: Sequence[Try], costs_s: Sequence[float], frame_s: float, length_s: float) -> float:
    """What the tries tell: by the model as long as they agree, by bisection when it led from one side to the other."""
    last = tries[-1]
    across = [known.share for known in tries[:-1] if known.too_late != last.too_late]
    if across and not last.usable:
        return math.sqrt(last.share * min(across, key=lambda share: abs(math.log(share / last.share))))
    if last.timed_out:
        return STEP_AFTER_TIME_OUT * last.share
    told = [known for known in tries if known.usable] or [known for known in tries if not known.timed_out]
    seen = [(known.share, known.end_late_fraction * length_s) for known in told]
    return corrected_share(costs_s, frame_s, seen, AIM * length_s)


def enough(tries: Sequence[Try], share: float, max_tries: int) -> bool:
    """Whether another try, with `share`, is not worth its time."""
    last = tries[-1]
    if last.good or len(tries) < max_tries:
        return last.good
    return last.usable or min(max(share, SHARE_MIN), SHARE_MAX) == last.share


def _conclude(tries: Sequence[Try], share: float) -> float:
    """The share that the tries tell, unless even the last one makes no sense."""
    last = tries[-1]
    if last.timed_out:
        raise DemoError(
            f"the CPU is busy with other work (load average {load_average()}): even with "
            f"{100 * last.share:.0f} % of it the player did not end in time; close other programs and try again"
        )
    if not last.usable:
        raise DemoError(
            f"the load cannot be set on this machine (without drops the player ended {last.end_late_fraction:.0%} of "
            f"the played time late, 10 to 20 % are wanted; load average {load_average()}); close other programs and "
            "try again"
        )
    return min(max(share, SHARE_MIN), SHARE_MAX)


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
