# SPDX-License-Identifier: LGPL-2.1-or-later
"""Two and three programs of different rates on one CPU, where the order of their priorities matters (seed 004, section 3.1).

In the order of their rates all deadlines can be met, by response-time analysis. In the reverse order the fastest program
cannot meet its own: it has to wait for the packet of a slower one, which leaves it too little of its period. The rates have
no common factor, so that within a second the programs meet in every phase.
"""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..analysis.claims import is_never
from ..analysis.outcome import FAILS, HOLDS, UNMEASURED, Outcome
from ..errors import LabError
from ..machine.domain import Domain
from ..processes import child, own_environment, wait_for
from ..rig.load.stress import require_running, stress
from .findings import NAME, Laxities, share_of

# Programs that compute beside them, ordinary ones.
STRESS_TASKS = 4
SETTLE_S = 0.5
# By rates, with the registry of `dlex-sched rm`; in the reverse order; and without priorities.
RATES, REVERSE, NONE = "by rates", "reverse", "none"
ORDERS = (RATES, REVERSE, NONE)
REVERSE_LEVEL = 30


@dataclass(frozen=True)
class Paced:
    """A program that does a packet of `cost_ms` at each turn of its rate."""

    rate_hz: int
    cost_ms: float

    @property
    def period_ms(self) -> float:
        return 1000 / self.rate_hz

    @property
    def name(self) -> str:
        return f"{self.rate_hz} Hz, {self.cost_ms:g} ms"


# The seed's program, a faster and a slower one. The first two use 76 % of the CPU, all three 87 %.
FAST, SEEDS_OWN, SLOW = Paced(28, 12), Paced(15, 28), Paced(11, 10)
GROUPS: tuple[tuple[Paced, ...], ...] = ((FAST, SEEDS_OWN), (FAST, SEEDS_OWN, SLOW))
# By the number of programs, the order of priorities, and the program.
Groups = Mapping[tuple[int, str, Paced], Laxities]


def measure_group(
    programs: tuple[Path, Path], group: Sequence[Paced], order: str, seconds: float, domain: Domain
) -> list[list[float]]:
    """Runs the programs of a group side by side. Returns the laxities of each, in ms. `programs`: dlex-sched and paced_packets."""
    found = []
    limit_s = 30 + 2 * seconds * (STRESS_TASKS + len(group))
    with contextlib.ExitStack() as stack:
        workers = stack.enter_context(stress(STRESS_TASKS, 0, {domain.cpu}, SETTLE_S, domain.enter))
        running = {
            paced: stack.enter_context(child(_command(programs, paced, group, order, seconds), cpus={domain.cpu},
                                             stdout=subprocess.PIPE, env=own_environment(), enter=domain.enter))
            for paced in group
        }
        for paced, process in running.items():
            wait_for(process, limit_s, lambda: require_running(workers), paced.name)
            said = process.stdout.read().decode() if process.stdout else ""
            packets = _packets(paced, seconds)
            found.append(laxities_of(said, packets, packets // 10, paced.name))
    return found


def laxities_of(said: str, packets: int, aside: int, name: str) -> list[float]:
    """Returns the laxities that paced_packets printed, in ms, without the first and the last `aside` ones."""
    values_ms = [int(line) / 1e6 for line in said.splitlines() if line.lstrip("-").isdigit()]
    if len(values_ms) != packets:
        raise LabError(f"paced_packets ({name}) reported {len(values_ms)} of {packets} laxities; try it by hand")
    return values_ms[aside : packets - aside]


def _packets(paced: Paced, seconds: float) -> int:
    return round(paced.rate_hz * seconds)


def _command(programs: tuple[Path, Path], paced: Paced, group: Sequence[Paced], order: str, seconds: float) -> list[str | Path]:
    dlex_sched, paced_packets = programs
    level = REVERSE_LEVEL + group.index(paced) if order == REVERSE else 0
    packets = (str(paced.rate_hz), f"{paced.cost_ms:g}", str(_packets(paced, seconds)), str(level), "each")
    if order != RATES:
        return [paced_packets, *packets]
    by_rate = ("rm", "run", f"--rate={paced.rate_hz}", "--guaranteed", f"--cost={paced.cost_ms:g}", "--")
    return [dlex_sched, *by_rate, paced_packets, *packets]


def several_findings(found: Groups) -> list[Outcome]:
    return [outcome for group in GROUPS for outcome in _findings_of(found, group)]


def _findings_of(found: Groups, group: Sequence[Paced]) -> list[Outcome]:
    count = len(group)
    by_rates, without = (_of(found, count, order) for order in (RATES, NONE))
    fastest = {paced: it for paced, it in _of(found, count, REVERSE).items() if paced == group[0]}
    return [
        Outcome(f"{count} programs with priorities by their rates miss no deadline", NAME,
                is_never(share_of(by_rates.values())), _missed(by_rates)),
        Outcome(f"with {count} in the reverse order, the one with the highest rate does", NAME, _are_missed(fastest),
                _missed(fastest)),
        Outcome(f"without priorities, {count} programs miss deadlines", NAME, _are_missed(without), _missed(without)),
    ]


def _are_missed(found: Mapping[Paced, Laxities]) -> str:
    share = share_of(found.values())
    return UNMEASURED if not share.n else HOLDS if share.hits else FAILS


def _of(found: Groups, count: int, order: str) -> dict[Paced, Laxities]:
    return {paced: it for (number, policy, paced), it in found.items() if (number, policy) == (count, order)}


def _missed(found: Mapping[Paced, Laxities]) -> str:
    parts = [f"{it.share} of {paced.name}" for paced, it in found.items()]
    return f"missed: {', '.join(parts)}" if parts else "not measured"
