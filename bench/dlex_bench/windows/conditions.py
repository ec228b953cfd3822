# SPDX-License-Identifier: LGPL-2.1-or-later
"""The settings of the experiment: who plays, how many, beside what, and how they are scheduled. The functions are pure.

The paper's players have a period of 100 ms, ten slots. The film here has 40 ms. So a slot is 4 ms, and all attributes are the
paper's in slots. Where a picture takes longer than that, a slot is longer, and fewer players need the whole CPU.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import LabError
from ..rig.load.stress import HOG

OTHER, FIFO, DEADLINE, DWCS, EVENTS = "other", "fifo", "deadline", "dwcs", "dwcs with events"
WAYS = (OTHER, FIFO, DEADLINE, DWCS, EVENTS)
DWCS_WAYS = (DWCS, EVENTS)
KINDS = ("dlex-play", "mplayer")
ALONE, BEST_EFFORT, DISTURBED = "", "beside a best-effort program", "beside a disturber"
# Which rules events follow: Figure 6 is Rule 3, Figure 7 is Rule 5, Figure 8 is all. Rule 1 delivers an event to its own process.
RULES = {ALONE: (1, 3), BEST_EFFORT: (1, 5), DISTURBED: (1, 2, 3, 4, 5)}
PERIOD_MS = 40.0  # 25 pictures a second
SLOTS_MS = (4.0, 5.0, 8.0, 10.0, 20.0, 40.0)  # parts of the period
X, Y = 1, 5
WINDOW = f"{X}/{Y}"
NEEDED = 1 - X / Y
FIFO_PRIORITY = 10
# A reservation is larger than what a picture takes on average, but all together must fit: the kernel keeps 5 % of the CPU, and
# newer ones reserve another 5 % for ordinary programs.
RESERVED_FOR_MEAN, MOST_RESERVED = 1.2, 0.88
# Wants 1 of 2 slots, as in the paper, and is not work-conserving.
DISTURBER = {"window": WINDOW, "period": 2, "service": 1, "command": HOG}
DISTURBER_WANTS = 1 / 2
DISTURBER_NEEDS = NEEDED * DISTURBER_WANTS
OVERLOAD = 1.2
END_S = 0.5  # of a film, in which nothing is recorded any more
# Of one run besides its film: starting, ending, reading the records.
BETWEEN_S = 1.5


@dataclass(frozen=True)
class WindowSetting:
    kind: str  # of the players
    players: int
    way: str
    beside: str = ALONE

    def __str__(self) -> str:
        return " ".join(filter(None, (f"{self.players} {self.kind}", self.beside, f"under {self.way}")))


@dataclass(frozen=True)
class WindowPlan:
    """How much is run. `overloads`: how often Figure 8 is run, which is one setting, so that it has an interval, too."""

    seconds: float  # of a film
    settle_s: float  # the first seconds of a film, which are not recorded: players start up
    members_s: float
    counts: tuple[int, ...]
    server_counts: tuple[int, ...]
    overloads: int

    @property
    def recorded_s(self) -> float:
        return self.seconds - self.settle_s - END_S

    def estimated_s(self, kinds: int, repetitions: int) -> float:
        """Returns how long everything takes."""
        runs = len(self.counts) * len(WAYS) + len(self.server_counts) * len(DWCS_WAYS) + self.overloads * len(DISTURBED_WAYS)
        costs = len(COST_PARTS)
        return self.members_s + BETWEEN_S + kinds * (
            sum(COST_PARTS) * self.seconds + costs * BETWEEN_S + repetitions * runs * (self.seconds + BETWEEN_S))


# The cost of a picture is the difference between playing all of a film and half of it: starting is not in it.
COST_PARTS = (1.0, 0.5)
# The paper's disturber is a real-time process: beside it, players under SCHED_FIFO or a reservation would be another experiment.
DISTURBED_WAYS = (OTHER, DWCS, EVENTS)
FULL = WindowPlan(13, 2.5, 600, (1, 2, 3, 4, 5, 6, 7, 8, 9, 10), (1, 2, 3, 4), 5)
QUICK = WindowPlan(3, 1, 10, (8,), (2,), 1)


@dataclass(frozen=True)
class PictureCost:
    """What one player needs: ms of CPU time a picture, on average."""

    ms: float

    @property
    def slot_ms(self) -> float:
        """Returns the shortest slot in which a picture can be decoded. Raises LabError if the machine is too slow for the film."""
        for slot_ms in SLOTS_MS:
            if self.ms <= slot_ms:
                return slot_ms
        raise LabError(f"a picture takes {self.ms:.0f} ms, more than its {PERIOD_MS:g} ms; this machine is too slow for the film")

    @property
    def period_slots(self) -> int:
        return round(PERIOD_MS / self.slot_ms)

    def utilisation(self, setting: WindowSetting) -> float:
        """Returns the least part of the CPU that the programs need by their windows. The best-effort one needs nothing."""
        disturbance = DISTURBER_NEEDS if setting.beside == DISTURBED else 0.0
        return setting.players * NEEDED / self.period_slots + disturbance

    def wanted(self, setting: WindowSetting) -> float:
        """Returns the part of the CPU that would give every player all its pictures, and the disturber all its slots."""
        disturbance = DISTURBER_WANTS if setting.beside == DISTURBED else 0.0
        return setting.players * self.ms / PERIOD_MS + disturbance


def alone_settings(kind: str, plan: WindowPlan) -> list[WindowSetting]:
    """Returns the settings of Figures 5 and 6, in all ways of scheduling."""
    return [WindowSetting(kind, count, way) for count in plan.counts for way in WAYS]


def server_settings(kind: str, plan: WindowPlan) -> list[WindowSetting]:
    """Returns the settings of Figure 7: a program without a window gets its share by the task server."""
    return [WindowSetting(kind, count, way, BEST_EFFORT) for count in plan.server_counts for way in DWCS_WAYS]


def overload_settings(kind: str, cost: PictureCost) -> list[WindowSetting]:
    """Returns the settings of Figure 8: as many players as need 120 % of the CPU with the disturber; 10 with a slot of 4 ms."""
    most = max(1, round((OVERLOAD - DISTURBER_NEEDS) * cost.period_slots / NEEDED))
    return [WindowSetting(kind, most, way, DISTURBED) for way in DISTURBED_WAYS]


def window_scenario(setting: WindowSetting, cost: PictureCost, commands: Sequence[str]) -> dict[str, Any]:
    """Returns the file for `dlex sched dwcs`. The players come first."""
    has_events = setting.way == EVENTS
    task: dict[str, Any] = {"window": WINDOW, "period": cost.period_slots, "service": 1, "work-conserving": True}
    if has_events:
        task["events"] = "wake"
    tasks: dict[str, Any] = {f"player-{number}": {**task, "command": command} for number, command in enumerate(commands, 1)}
    if setting.beside == DISTURBED:
        tasks["disturber"] = dict(DISTURBER)
    elif setting.beside == BEST_EFFORT:
        tasks["rest"] = {"best-effort": True, "command": HOG}
    rules = list(RULES[setting.beside]) if has_events else []
    # The paper's server has 1/5 in place of what its rule gives, and is there without events, too.
    return {"slot": cost.slot_ms, "rules": rules, "server": WINDOW if setting.beside == BEST_EFFORT else False, "tasks": tasks}


# How many members may miss x of y = 10 periods, by x; they need 0.96 of all slots. Each slot has the service of one member, and
# leaves ordinary threads somewhat more than the 5 % that the kernel keeps for them: otherwise it would stop the members.
MEMBERS, MEMBERS_Y, MEMBERS_PERIOD = {1: 7, 4: 4, 7: 3}, 10, 10
MEMBERS_SERVICE_MS, MEMBERS_LEAVE_MS = 15.0, 1.0
MEMBERS_SLOT_MS = MEMBERS_SERVICE_MS + MEMBERS_LEAVE_MS


def members_utilisation() -> float:
    """Returns the part of the CPU's time that the members need."""
    services = sum((1 - x / MEMBERS_Y) * members for x, members in MEMBERS.items())
    return services * MEMBERS_SERVICE_MS / (MEMBERS_PERIOD * MEMBERS_SLOT_MS)


def members_scenario() -> dict[str, Any]:
    """
    Returns the file for members that always compute, with equal periods, services and lengths of windows. They need 0.9 of the
    CPU by their windows, and would take all of it.
    """
    each = {"period": MEMBERS_PERIOD, "service": 1, "command": HOG}
    tasks = {f"member-{x}-{number}": {"window": f"{x}/{MEMBERS_Y}", **each}
             for x, members in MEMBERS.items() for number in range(members)}
    return {"slot": MEMBERS_SLOT_MS, "leave": MEMBERS_LEAVE_MS, "rules": [], "tasks": tasks}


def window_policy(setting: WindowSetting, cost: PictureCost) -> str:
    """Returns the policy of each player's main thread, as machine.policy reads it; other for those that DWCS schedules."""
    if setting.way == FIFO:
        return f"fifo:{FIFO_PRIORITY}"
    if setting.way == DEADLINE:
        share_ms = min(RESERVED_FOR_MEAN * cost.ms, MOST_RESERVED * PERIOD_MS / setting.players)
        return f"deadline:{share_ms:.3f}/{PERIOD_MS:g}"
    return "other"
