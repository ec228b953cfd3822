# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes one run: plays a setting, records how long the players wait for the CPU, and reads what the players report."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import Any

from ..errors import LabError
from ..machine.domain import threads_of
from ..machine.run_delay import Delays, Wait, delays_of, queue_of, read_switches
from ..machine.switch_recording import RecordingEnd, recorded_switches
from ..output import checked_files
from ..processes import child
from ..record import DROPPED, Frame, read_frames, read_run
from ..rig.players.mplayer import STATUS
from ..rig.players.status_line import last_message, read_status
from .conditions import (
    COST_PARTS,
    MEMBERS_SERVICE_MS,
    PERIOD_MS,
    PictureCost,
    WindowSetting,
    X,
    Y,
    members_scenario,
)
from .findings import MembersRun, WindowRun
from .stage_players import (
    WindowStage,
    dispatching,
    have_ended,
    log_of_player,
    player_command,
    player_environment,
    playing_together,
    record_of_player,
)

SWITCHES, RESULTS = "switches.txt.gz", "dwcs.json"
DRAIN_S = 0.25
POLL_S = 0.1
# Of the first player, as in Figure 8.
FIRST = 100
MS_PER_S, NS_PER_MS = 1e3, 1e6


def picture_cost(stage: WindowStage, kind: str, folder: Path) -> PictureCost:
    """Returns what a player needs that has the CPU to itself."""
    whole_s, part_s = (_cpu_s(stage, kind, part * stage.plan.seconds, _new(folder)) for part in COST_PARTS)
    pictures = (COST_PARTS[0] - COST_PARTS[1]) * stage.plan.seconds * MS_PER_S / PERIOD_MS
    return PictureCost(MS_PER_S * (whole_s - part_s) / pictures)


def _new(folder: Path) -> Path:
    """Makes an empty folder."""
    shutil.rmtree(folder, ignore_errors=True)
    with checked_files(folder):
        folder.mkdir()
    return folder


def _cpu_s(stage: WindowStage, kind: str, seconds: float, folder: Path) -> float:
    path, domain = log_of_player(folder, 1), stage.domain
    command, environment = player_command(stage, kind, seconds), player_environment()
    with (
        path.open("wb") as log,
        child(command, cpus={domain.cpu}, stdout=log, stderr=log, env=environment, enter=domain.enter) as process,
    ):
        _pid, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise LabError(f"{kind} ended with status {process.returncode} ({last_message(path, STATUS)}); try it by hand")
    return used.ru_utime + used.ru_stime


def members_run(stage: WindowStage, folder: Path) -> MembersRun:
    """Runs members that always compute under DWCS."""
    with dispatching(stage, members_scenario(), stage.plan.members_s, _new(folder)):
        pass
    return members_from(json.loads((folder / RESULTS).read_text()))


def members_from(written: Mapping[str, Any]) -> MembersRun:
    """Returns the run from what dlex sched dwcs wrote."""
    tasks = written["tasks"]
    kept, lost = (sum(it[key] for it in tasks) for key in ("windows_kept", "windows_lost"))
    used = min((it["cpu_ms"] / (it["served"] * MEMBERS_SERVICE_MS) for it in tasks if it["served"]), default=0.0)
    return MembersRun(written["seconds"], kept, kept + lost, used, written["slots"], written["lost_slots"], written["late_us_max"])


def setting_run(stage: WindowStage, setting: WindowSetting, cost: PictureCost, folder: Path) -> WindowRun:
    """Plays a setting once. Its records stay in `folder`."""
    _new(folder)
    with checked_files(folder):
        with playing_together(stage, setting, cost, folder) as players:
            time.sleep(stage.plan.settle_s)
            seen = _Seen(players)
            end = _record(stage, seen, folder)
            _wait_for_the_end(stage, players)
        with gzip.open(folder / SWITCHES, "rt", errors="replace") as lines:
            queue = queue_of(read_switches(lines))
    return WindowRun(
        **_delays(queue.waits_until(end.time_us), seen, setting),
        lost_records=end.lost + sum(queue.unseen[it] for it in seen.threads),
        **_service(folder / RESULTS),
        **_pictures(setting, stage.plan.seconds, folder),
    )


@dataclass
class _Seen:
    """The players, and all their threads that were ever seen."""

    players: Sequence[int]
    threads: set[int] = field(default_factory=set)

    def look(self) -> set[int]:
        """Returns the threads that the players have now."""
        now = {thread for player in self.players for thread in threads_of(player)}
        self.threads |= now
        return now


def _record(stage: WindowStage, seen: _Seen, folder: Path) -> RecordingEnd:
    """Records the players' wake-ups and context switches in the middle of their film."""
    if have_ended(seen.players):
        raise LabError(f"the players ended at once ({last_message(log_of_player(folder, 1), STATUS)}); try one by hand")
    with recorded_switches(folder / SWITCHES) as recording:
        recording.begin(seen.look)
        until = time.monotonic() + stage.plan.recorded_s
        while time.monotonic() < until:
            time.sleep(DRAIN_S)
            seen.look()
            recording.drain()
        return recording.end()


def _wait_for_the_end(stage: WindowStage, players: Sequence[int]) -> None:
    limit = time.monotonic() + stage.limit_s - stage.plan.settle_s - stage.plan.recorded_s
    while not have_ended(players) and time.monotonic() < limit:
        time.sleep(POLL_S)


def _delays(waits: Sequence[Wait], seen: _Seen, setting: WindowSetting) -> dict[str, Any]:
    main = [wait for wait in waits if wait.thread in seen.players]
    every = [wait for wait in waits if wait.thread in seen.threads]
    of_main, of_all = delays_of(main), delays_of(every)
    if of_main is None or of_all is None:
        raise LabError(f"{setting}: no wake-up of a player was recorded, although the kernel records them; run it again")
    first = [wait.ms for wait in main if wait.thread == seen.players[0]]
    return {
        **_named("", of_main), **_named("all_", of_all), "unfinished": sum(not wait.is_over for wait in main),
        "first_ms": tuple(first[:FIRST]),
    }


def _named(prefix: str, delays: Delays) -> dict[str, float]:
    return {f"{prefix}{name}": value for name, value in (
        ("wake_ups", delays.count), ("mean_ms", delays.mean_ms), ("p99_ms", delays.p99_ms), ("max_ms", delays.max_ms))}


def _service(path: Path) -> dict[str, Any]:
    """Returns what the dispatcher counted for the players; nothing if there was none."""
    if not path.exists():
        return dict.fromkeys(("kept", "windows", "events", "swaps", "late_us_max"))
    written = json.loads(path.read_text())
    tasks = [it for it in written["tasks"] if it["name"].startswith("player-")]
    kept, lost, events, swaps = (sum(it[key] for it in tasks) for key in ("windows_kept", "windows_lost", "events", "swaps"))
    return {"kept": kept, "windows": kept + lost, "events": events, "swaps": swaps, "late_us_max": written["late_us_max"]}


def _pictures(setting: WindowSetting, seconds: float, folder: Path) -> dict[str, Any]:
    numbers = range(1, setting.players + 1)
    if setting.kind == "mplayer":
        return pictures_of_logs([log_of_player(folder, number) for number in numbers], seconds)
    return pictures_of_records([record_of_player(folder, number) for number in numbers])


def pictures_of_records(records: Sequence[Path]) -> dict[str, Any]:
    """Returns what became of the pictures, from dlex-play's records. One that was ended before it played has none."""
    pictures = lost = windows = kept = 0
    skews_ms: list[float] = []
    for record in records:
        if not (record / "frames.csv").exists():
            continue
        frames = _frames(record)
        is_lost = [frame.verdict in DROPPED for frame in frames]
        own = [sum(is_lost[first : first + Y]) for first in range(0, len(is_lost) - Y + 1, Y)]
        pictures, lost, windows = pictures + len(frames), lost + sum(is_lost), windows + len(own)
        kept += sum(misses <= X for misses in own)
        skews_ms += [frame.skew_ns / NS_PER_MS for frame in frames if frame.skew_ns is not None]
    return {
        "pictures": pictures or None, "lost": lost if pictures else None, "picture_windows": windows or None,
        "picture_windows_kept": kept if windows else None, "skew_ms": fmean(skews_ms) if skews_ms else None,
    }


def _frames(record: Path) -> list[Frame]:
    try:
        return read_frames(record)
    except LabError:
        if read_run(record).ended == "signal":
            return []  # it had not shown a picture yet
        raise


def pictures_of_logs(logs: Sequence[Path], seconds: float) -> dict[str, Any]:
    """Returns what mplayer's status lines say. It drops pictures before it decodes them, and does not say which ones."""
    views = [view for log in logs if (view := read_status(log, STATUS))]
    skews_ms = [view.skew_ms_mean for view in views if view.skew_ms_mean is not None]
    lost = sum(view.dropped or 0 for view in views)
    return {
        "pictures": round(len(views) * seconds * MS_PER_S / PERIOD_MS) or None, "lost": lost if views else None,
        "picture_windows": None, "picture_windows_kept": None, "skew_ms": fmean(skews_ms) if skews_ms else None,
    }
