# SPDX-License-Identifier: LGPL-2.1-or-later
"""The figures that tables and plots show: one list, for the page, report.csv and report.json alike.

A-V > 0: the video is late. Fractions are shown in per cent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """A figure: `key` is its name in analysis.results_frame.Row.value; `scale` converts that value to `unit`."""

    key: str
    label: str
    unit: str
    about: str
    scale: float = 1.0
    digits: int = 0

    @property
    def heading(self) -> str:
        return f"{self.label}, {self.unit}" if self.unit else self.label

    def text(self, value: float | None) -> str:
        return "–" if value is None else number(value * self.scale, self.digits)


def number(value: float, digits: int) -> str:
    """Formats a value to about three digits, for small and large figures in one column."""
    if math.isinf(value):
        return "∞"
    size = abs(value)
    shown = digits + (1 if 0 < size < 1 and digits else -1 if size >= 100 and digits else 0)
    return f"{value:,.{shown}f}".replace("-", "−")


DROPS = Metric("drops_fraction", "dropped", "%", "pictures never on the screen, even before the first one", 100.0, 1)
DROPS_COUNT = Metric("dropped", "dropped", "pictures", "number of dropped pictures")
SKEW_MEAN = Metric("skew_ms_mean", "A-V mean", "ms", "over the pictures shown; > 0: the video is late", 1.0, 1)
SKEW_SD = Metric("skew_ms_sd", "A-V s.d.", "ms", "within a run, over the pictures shown", 1.0, 1)
SKEW_ABS = Metric("skew_ms_abs_mean", "|A-V mean|", "ms", "distance from the sound, in either direction", 1.0, 1)
# The three grades of seed 004, and the three of BT.1359.
LIP_SYNC = (
    Metric("lip_sync_accepted", "lip sync accepted", "% of time", "A-V within 80 ms, accepted by most (Steinmetz, Wolf)", 100.0, 1),
    Metric("lip_sync_irritating", "irritating", "% of time", "between accepted and distracting (Steinmetz, Wolf)", 100.0, 1),
    Metric("lip_sync_distracting", "distracting", "% of time", "the video 160 ms late or 240 ms ahead (Steinmetz, Wolf)", 100.0, 1),
    Metric("lip_sync_itu_undetected", "ITU undetected", "% of time", "A-V from -125 to +45 ms (BT.1359)", 100.0, 1),
    Metric("lip_sync_itu_acceptable", "ITU acceptable", "% of time", "else A-V from -185 to +90 ms (BT.1359)", 100.0, 1),
    Metric("lip_sync_itu_unacceptable", "ITU unacceptable", "% of time", "A-V outside -185 to +90 ms (BT.1359)", 100.0, 1),
)
RMSE = Metric("rmse_q16_sum", "RMSE sum", "k", "over the dropped pictures, thousands of Q16 units", 1e-3, 1)
DEGRADED = Metric("degraded", "degraded", "pictures", "shown although their own loop filter was left out (--degrade)")
DRIFTED = Metric("drifted", "drifted", "pictures", "shown whole, but made from degraded ones")
RMSE_DEGRADED = Metric("rmse_q16_degraded", "RMSE of degraded", "k", "the part of the RMSE sum, thousands of Q16 units", 1e-3, 1)
RMSE_DRIFTED = Metric("rmse_q16_drifted", "RMSE of drifted", "k", "the part of the RMSE sum, thousands of Q16 units", 1e-3, 1)
FREEZE = Metric("longest_freeze_ms", "longest freeze", "ms", "the longest time without a new picture")
WINDOW = Metric(
    "violations_sliding", "beyond the window", "pictures", "lost although x of the y pictures up to them were lost (--window=x/y)"
)
CPU = Metric("cpu_ms_per_frame", "CPU", "ms a frame", "CPU time of the player's process per picture", 1.0, 2)
CPU_HELD = Metric(
    "cpu_ms_per_frame_held", "CPU held", "ms a frame", "the part in threads that the policy holds on the measured CPU", 1.0, 2
)
CPU_OUTSIDE = Metric(
    "cpu_ms_per_frame_outside", "CPU outside", "ms a frame", "the part in the player's other threads on other CPUs", 1.0, 2
)
RESERVED = Metric("reserved", "reserved", "% of a CPU", "reserved for the player's threads", 100.0, 1)
RESERVED_USED = Metric("reserved_used", "used of it", "% of a CPU", "CPU time of the threads with reservations", 100.0, 1)
# Under `free`.
SCREEN = Metric("whole_machine.servers.screen_ms_per_frame", "CPU of the X server", "ms a frame", "while the player ran", 1.0, 2)
SOUND = Metric("whole_machine.servers.sound_ms_per_frame", "CPU of PulseAudio", "ms a frame", "while the player ran", 1.0, 2)
WAITING = Metric(
    "whole_machine.waiting.wait_ms_per_frame", "waited for a CPU", "ms a frame",
    "run-queue delay, the sum over the threads that decode or present", 1.0, 2
)
IDLE = Metric("whole_machine.idle", "idle", "% of all CPUs", "while pictures were shown", 100.0, 1)
STOLEN = Metric("whole_machine.steal", "stolen", "% of all CPUs", "taken by the host while pictures were shown", 100.0, 1)
OBSERVER = Metric("whole_machine.servers.observer", "observer", "% of a CPU", "used by the laboratory's observer", 100.0, 1)
TORN = Metric("torn", "torn", "pictures", "never whole, or only after more than half of their time; some also count as dropped")
MISSES_1 = Metric("rtapp-1.missed_fraction", "rt-app 1 misses", "%", "missed deadlines of the 3/8 ms task", 100.0, 1)
MISSES_2 = Metric("rtapp-2.missed_fraction", "rt-app 2 misses", "%", "missed deadlines of the 20/200 ms task", 100.0, 1)
OTHERS = Metric("load.others", "others", "%", "pace of the load while the player plays, of its pace alone", 100.0, 1)
OTHERS_LATE = Metric("load.late", "others late", "", "late activations of the load audio while the player plays")
OTHERS_DROPPED = Metric("load.dropped", "others dropped", "pictures", "dropped by the other films while the player plays")

TABLE = (
    *(DROPS, SKEW_MEAN, SKEW_SD, *LIP_SYNC, RMSE, DEGRADED, RMSE_DEGRADED, DRIFTED, RMSE_DRIFTED, FREEZE, WINDOW),
    *(CPU, CPU_HELD, CPU_OUTSIDE, RESERVED, RESERVED_USED, SCREEN, SOUND, WAITING, IDLE, STOLEN, OBSERVER),
    *(TORN, MISSES_1, MISSES_2, OTHERS, OTHERS_LATE, OTHERS_DROPPED),
)
RUNS = (DROPS, SKEW_MEAN, SKEW_SD, RMSE, MISSES_1)
COMPARED = (DROPS, SKEW_ABS, SKEW_SD, RMSE, FREEZE, CPU)
# The axes of the front; on each of them smaller is better.
FRONT = (DROPS, SKEW_SD, SKEW_ABS, RMSE)
