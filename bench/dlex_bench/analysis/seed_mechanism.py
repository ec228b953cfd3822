# SPDX-License-Identifier: LGPL-2.1-or-later
"""Evidence for why a finding of the paper is what it is here: demand against supply, and work thrown away. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from .results_frame import Row, values

# rt-app's two tasks, 3 ms of 8 and 20 of 200.
RTAPP_SHARE = 3 / 8 + 20 / 200
SHORT_PERIOD_MS, SHORT_WORK_MS = 8.0, 3.0


def mechanism(runs: Sequence[Row], needed: bool) -> str | None:
    """Sentences made from the runs of one setting; None where nothing needs explaining or nothing is known."""
    if not needed or not runs:
        return None
    sentences = [sentence for tell in (_demand, _waiting, _losses) if (sentence := tell(runs))]
    return " ".join(sentences) or None


def _demand(runs: Sequence[Row]) -> str | None:
    """The CPU that the player used, beside what rt-app wants and what the policy gives."""
    spent = values(runs, "cpu_ms_per_frame")
    period_ms = _picture_ms(runs)
    if not spent or period_ms is None:
        return None
    share = median(spent) / period_ms
    text = f"The player used {median(spent):.1f} ms of CPU a picture, {share:.0%} of one CPU"
    reserved = _reserved_share(runs[0])
    if reserved is not None:
        tight = "it had no time to spare" if share > 0.9 * reserved else "it was not short of time on average"
        return f"{text}, and {reserved:.1%} were reserved for it: {tight}."
    if (runs[0].result["job"].get("load") or {}).get("kind") != "rtapp":
        return f"{text}."
    total = share + RTAPP_SHARE
    fits = "all of it fits into one CPU, so nobody need be late for long" if total < 1 else "more than one CPU has"
    return f"{text}; with rt-app's {RTAPP_SHARE:.1%} that is {total:.0%}: {fits}."


def _waiting(runs: Sequence[Row]) -> str | None:
    """Of equal priorities the short task waits until the player sleeps: for the rest of a picture."""
    kind = str(runs[0].result["job"].get("sched", "")).partition(":")[0]
    spent, period_ms = values(runs, "cpu_ms_per_frame"), _picture_ms(runs)
    if kind not in ("fifo", "rr") or not spent or period_ms is None:
        return None
    spare_ms = SHORT_PERIOD_MS - SHORT_WORK_MS
    text = f"Under {kind} rt-app's short task waits for one picture at most, {median(spent):.1f} ms"
    if median(spent) <= spare_ms:
        return f"{text}, and has {spare_ms:.0f} ms to spare."
    return f"{text} with {spare_ms:.0f} to spare, and this in one of {period_ms / SHORT_PERIOD_MS:.0f} of its periods."


def _losses(runs: Sequence[Row]) -> str | None:
    """What our player did with the pictures that it did not show."""
    inside = [run.result.get("inside") or {} for run in runs]
    known = [it for it in inside if it.get("aborted") is not None]
    if not known:
        return None
    aborted, skipped, late = (median(it.get(key) or 0 for it in known) for key in ("aborted", "skipped", "late"))
    text = f"It aborted {aborted:.0f} pictures, skipped {skipped:.0f} and came too late with {late:.0f}"
    wasted = [it["aborted_cpu_s"] for it in known if it.get("aborted_cpu_s") is not None]
    return f"{text}; decoding what it aborted cost {1e3 * median(wasted):.0f} ms of CPU." if wasted else f"{text}."


def _picture_ms(runs: Sequence[Row]) -> float | None:
    """How long a picture is to be on the screen: 25 a second unless the clip's job says otherwise."""
    rate = (runs[0].result["job"].get("clip") or {}).get("frames_per_s", 25)
    return 1e3 / rate if rate else None


def _reserved_share(run: Row) -> float | None:
    kind, _, numbers = ((run.result.get("policy") or {}).get("applied") or "").partition(":")
    if kind not in ("deadline", "quota") or "/" not in numbers:
        return None
    runtime, period = numbers.split("/")
    try:
        return float(runtime) / float(period)
    except ValueError:
        return None
