# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds the share of the CPU that makes the player late, but not hopelessly late.

The clip is decoded once alone, which gives the cost of each picture. From these costs, a model of the serial player
computes the share with which `none` ends 15 % of the played time late. One to three plays beside the load correct the
share, and up to two more follow if even the last of them is unusable.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .. import paper
from ..errors import LabError, TimedOut, load_average
from ..record import frame_duration_s
from ..rig.load.rtapp import measure_ns_per_loop
from .model import AIM, corrected_share, share_for
from .runs import NICE, NICE_BESIDE_OTHERS, NONE, Setup, Tick, play_loaded, play_once

# The filler cannot take less than 0 of the CPU, and needs a little room to even out rt-app's tasks.
SHARE_MAX = 1 - paper.UTILISATION - 0.03
# With less, the player would mostly run on the scheduler's leftovers.
SHARE_MIN = 0.01
# Decoding beside other tasks costs this many times as much as alone, as they use the caches (0.97 to 1.2 was seen).
BESIDE_OTHERS = 1.07
# Other work on the machine can make decoding alone seem this many times as expensive: beside compilers and two busy
# loops the made clip needed 46 and 53 % of a CPU.
SEEMING = 2.0
# Outside this range, the check says that the machine did something else than at the calibration.
USABLE = (0.04, 0.40)
# Tries beyond those planned, made while the last one is unusable and there is time for another.
EXTRA_TRIES = 2
# At nice 19 a usable try ends before this limit: it ends at most 40 % late, and its start takes a few seconds on a
# busy CPU. Waiting longer would exceed the announced time and show nothing more. At an equal nice value a try may take
# as long as a run that counts, because on a busy machine it can be the only try with a result to go on with.
TRY_LIMIT_FACTOR, TRY_LIMIT_EXTRA_S = 1.5, 5.0
# A try that did not end in time shows only that the share was far too small.
STEP_AFTER_TIME_OUT = 1.5


@dataclass(frozen=True)
class ShareTry:
    share: float
    end_late_fraction: float
    share_left: float | None
    timed_out: bool = False
    nice: int = NICE

    @property
    def good(self) -> bool:
        """True if the try is so near the aim that another one would show nothing new."""
        return abs(self.off) <= 0.03

    @property
    def usable(self) -> bool:
        return not self.timed_out and USABLE[0] <= self.end_late_fraction <= USABLE[1]

    @property
    def too_late(self) -> bool:
        return self.end_late_fraction > AIM

    @property
    def off(self) -> float:
        """Returns how far from the aim the try ended, as a fraction of the played time; > 0: too late."""
        return self.end_late_fraction - AIM


@dataclass
class LoadCalibration:
    ns_per_loop: float
    demand_alone: float
    frame_s: float
    share: float = 0.0
    nice: int = NICE
    tries: list[ShareTry] = field(default_factory=list)
    seconds: float = 0.0
    # Set if the demo had to accept the nearest try: how far from the aim it ended (ShareTry.off), and a sentence on it.
    missed_by: float | None = None
    missed: str | None = None

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "rtapp_utilisation": paper.UTILISATION, "aim": AIM}


def calibrate_load(
    setup: Setup, folder: Path, max_tries: int, limit_s: float, *, say: Callable[[str], None], tick: Tick
) -> LoadCalibration:
    """Finds the share for `setup` by up to `max_tries` plays, and EXTRA_TRIES more while the last one is unusable.

    These extra tries begin within `limit_s` from the call. The limit does not hold while no try has ended in time.
    """
    begun = time.monotonic()
    alone = play_once(setup, NONE, folder / "alone", tick=tick, options=["--untimed"])
    costs_s = [frame.decode_cpu_ns / 1e9 for frame in alone.frames]
    result = LoadCalibration(
        ns_per_loop=measure_ns_per_loop(setup.cpu, folder / "rt-app"),
        demand_alone=sum(costs_s) / setup.length_s,
        frame_s=frame_duration_s(alone.frames),
    )
    share = BESIDE_OTHERS * share_for(costs_s, result.frame_s, AIM * setup.length_s)
    _require_load_possible(share, result.demand_alone)
    say(f"    alone, decoding takes {result.demand_alone:.1%} of the CPU; the first try leaves the player {share:.1%}")
    for number in range(1, max_tries + EXTRA_TRIES + 1):
        share = min(max(share, SHARE_MIN), SHARE_MAX)
        nice = NICE_BESIDE_OTHERS if any(known.timed_out for known in result.tries) else NICE
        result.tries.append(_try(setup, folder / f"try-{number}", share, nice, result.ns_per_loop, tick))
        say(f"    with {share:.1%} left, {_told(result.tries[-1])} (aim: {AIM:.0%})")
        share = share_to_try(result.tries, costs_s, result.frame_s, setup.length_s)
        if enough(result.tries, share, max_tries, late=time.monotonic() - begun > limit_s):
            break
    _conclude(result, share)
    if result.missed:
        say(f"    {result.missed}")
    result.seconds = time.monotonic() - begun
    return result


def _try(setup: Setup, folder: Path, share: float, nice: int, ns_per_loop: float, tick: Tick) -> ShareTry:
    """Makes a try. A play that does not end in time is also a try: it ended later than the whole time waited."""
    limit_s = TRY_LIMIT_FACTOR * setup.length_s + TRY_LIMIT_EXTRA_S if nice == NICE else None
    try:
        run = play_loaded(setup, NONE, folder, share, ns_per_loop, tick=tick, nice=nice, limit_s=limit_s)
    except TimedOut as cause:
        return ShareTry(share, cause.limit_s / setup.length_s - 1, None, timed_out=True, nice=nice)
    return ShareTry(share, run.end_skew_ms / 1e3 / setup.length_s, run.load.left if run.load else None, nice=nice)


def _told(it: ShareTry) -> str:
    beside = "" if it.nice == NICE else f" at nice {it.nice}"
    if it.timed_out:
        return f"`none`{beside} does not end in time"
    return f"`none`{beside} ends {it.end_late_fraction:.0%} of the played time late"


def share_to_try(tries: Sequence[ShareTry], costs_s: Sequence[float], frame_s: float, length_s: float) -> float:
    """Returns the share for the next try.

    The model computes it while the tries agree; bisection does if the model led from one side of the aim to the other.

    A play at nice 19 that did not end in time is followed by one at an equal nice value with the same share, because
    the first says nothing about the second.
    """
    last = tries[-1]
    if last.timed_out and last.nice == NICE:
        return last.share
    tries = [known for known in tries if known.nice == last.nice]
    across = [known.share for known in tries[:-1] if known.too_late != last.too_late]
    if across and not last.usable:
        return math.sqrt(last.share * min(across, key=lambda share: abs(math.log(share / last.share))))
    if last.timed_out:
        return STEP_AFTER_TIME_OUT * last.share
    told = [known for known in tries if known.usable] or [known for known in tries if not known.timed_out]
    seen = [(known.share, known.end_late_fraction * length_s) for known in told]
    return corrected_share(costs_s, frame_s, seen, AIM * length_s)


def enough(tries: Sequence[ShareTry], share: float, max_tries: int, *, late: bool = False) -> bool:
    """Returns whether another try, with `share`, is not worth its time.

    `late` means that there is no time for more tries than those planned. Another try is made nevertheless if none has
    ended yet, because there would be nothing to go on with.
    """
    last = tries[-1]
    if last.good or len(tries) < max_tries:
        return last.good
    if late and any(not known.timed_out for known in tries):
        return True
    if last.timed_out and last.nice == NICE:
        return False
    return last.usable or min(max(share, SHARE_MIN), SHARE_MAX) == last.share


def _conclude(result: LoadCalibration, share: float) -> None:
    """Sets share and nice value: `share` and the last try's nice value or, if that try is unusable, the nearest try's.

    Raises LabError if no try ended in time, because there is nothing to go on with.
    """
    last = result.tries[-1]
    if last.usable:
        result.share, result.nice = min(max(share, SHARE_MIN), SHARE_MAX), last.nice
        return
    ended = [known for known in result.tries if not known.timed_out]
    if not ended:
        raise LabError(
            f"the CPU is busy with other work (load average {load_average()}): even with "
            f"{100 * last.share:.0f} % of it the player did not end in time; close other programs and try again"
        )
    nearest = min(ended, key=lambda known: abs(known.off))
    result.share, result.nice, result.missed_by = nearest.share, nearest.nice, nearest.off
    result.missed = (
        f"The load did not reach its aim: in the nearest of {len(result.tries)} tries the player without drops ended "
        f"{nearest.end_late_fraction:.0%} of the played time late, the aim was {AIM:.0%} (load average {load_average()}). "
        "The policies are compared under that load; for a load like the README's, close other programs."
    )


def _require_load_possible(share: float, demand: float) -> None:
    """Raises LabError for a clip that is too hard or too easy.

    A clip that is a little too hard is tried, because other work on the machine makes it seem so; the demo reports how
    late it ends.
    """
    if share > SEEMING * SHARE_MAX:
        raise LabError(
            f"the clip needs {demand:.0%} of this CPU, more than rt-app's two tasks leave; use a faster machine "
            "or, with --clip=FILE, a film that is easier to decode"
        )
    if share < SHARE_MIN:
        raise LabError(
            f"the clip needs only {demand:.1%} of this CPU, too little to be disturbed; give a film that is harder to "
            "decode with --clip=FILE"
        )
