# SPDX-License-Identifier: LGPL-2.1-or-later
"""Collects what a reader must know about a machine and its programs to judge a figure."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import platform
import re
import shutil
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from ..paths import PROJECT
from ..schema import Stored
from .cgroups import hierarchy_of

# Linux's number of the clock that moves with the tick; Python has no name for it.
CLOCK_MONOTONIC_COARSE = 6
# The programs that take part in a job, with their Debian packages. The version comes from the package: not all of them
# can report their own, and Debian's mplayer reports a wrong one.
PROGRAMS = {
    "mplayer": "mplayer",
    "mpv": "mpv",
    "ffplay": "ffmpeg",
    "vlc": "vlc-bin",
    "gst-play-1.0": "gstreamer1.0-plugins-base-apps",
    "ffmpeg": "ffmpeg",
    "Xvfb": "xvfb",
    "pulseaudio": "pulseaudio",
    "rt-app": "rt-app",
    "stress": "stress",
    "gcc": "gcc",
    "ninja": "ninja-build",
    "chromium": "chromium",
}
ASKING_S = 10.0


class Program(Stored):
    """A program's file, its version (null: unknown) and its mtime, which distinguishes builds of the same version."""

    path: str | None = None
    version: str | None = None
    made_ns: int | None = None


class MachineFacts(Stored):
    """Null: not known here. Texts are as the kernel has them."""

    cpu: str | None = None  # the model
    cpus: int | None = None
    kernel: str | None = None
    kernel_version: str | None = None
    architecture: str | None = None
    virtual: str | None = None  # which virtual machine or container; `none`: a real machine
    autogroup: str | None = None  # 1: threads are scheduled in groups by their sessions
    governor: str | None = None  # of CPU 0's clock
    smt: str | None = None  # 1: hyperthreads are in use
    clock_source: str | None = None
    tick_hz: int | None = None
    config_hz: str | None = None
    preemption: str | None = None
    rt_runtime_us: str | None = None  # of each second; -1: no limit
    cgroups: dict[str, str | None] = Field(default_factory=dict)  # by controller
    load_average: tuple[float, ...] = ()  # over 1, 5 and 15 minutes
    python: str | None = None


def machine_facts() -> MachineFacts:
    return MachineFacts(
        cpu=_cpu_model(),
        cpus=os.cpu_count(),
        kernel=platform.release(),
        kernel_version=platform.version(),
        architecture=platform.machine(),
        virtual=_answer("systemd-detect-virt"),
        autogroup=_first_line(Path("/proc/sys/kernel/sched_autogroup_enabled")),
        governor=_first_line(Path("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")),
        smt=_first_line(Path("/sys/devices/system/cpu/smt/active")),
        clock_source=_first_line(Path("/sys/devices/system/clocksource/clocksource0/current_clocksource")),
        tick_hz=tick_hz(),
        config_hz=_kernel_option("HZ"),
        preemption=_preemption(),
        rt_runtime_us=_first_line(Path("/proc/sys/kernel/sched_rt_runtime_us")),
        cgroups={controller: _cgroup(controller) for controller in ("cpuset", "cpu", "cpuacct")},
        load_average=os.getloadavg(),
        python=platform.python_version(),
    )


def machine_id(facts: MachineFacts) -> str:
    """Returns an id that stays the same as long as figures from this machine may be combined."""
    # Hashed, because machine-id(5) asks that the number itself does not leave the machine.
    name = _first_line(Path("/etc/machine-id")) or platform.node()
    stable = "\n".join(str(part) for part in (facts.cpu, facts.cpus, facts.kernel, name))
    return hashlib.sha256(f"dlex-bench\n{stable}".encode()).hexdigest()[:12]


def program_facts(root: Path) -> dict[str, Program | None]:
    """Returns the players and devices by name; None: not installed."""
    packages = _package_versions()
    facts = {name: _program(shutil.which(name), packages.get(package)) for name, package in PROGRAMS.items()}
    player = root / "build/release/player/dlex-play"
    return facts | {"dlex-play": _program(str(player), _answer(str(player), "--version"))}


def _program(path: str | None, version: str | None) -> Program | None:
    """Returns None if the file does not exist."""
    if path is None or not os.path.exists(path):
        return None
    return Program(path=path, version=version, made_ns=os.stat(path).st_mtime_ns)


def programs_changed(before: Mapping[str, Program | None], root: Path) -> list[str]:
    """Returns the names of the programs whose files are not the same as when `before` was taken.

    Does not ask the programs for their versions: that takes a second.
    """
    changed = []
    for name, fact in before.items():
        path = str(root / "build/release/player/dlex-play") if name == "dlex-play" else shutil.which(name)
        here = _program(path, None)
        if (fact and fact.made_ns) != (here and here.made_ns):
            changed.append(name)
    return changed


def tick_hz() -> int:
    """Returns how often per second the kernel's coarse clock moves, which is CONFIG_HZ."""
    return round(1 / time.clock_getres(CLOCK_MONOTONIC_COARSE))


def commit(root: Path | None = None) -> str | None:
    return _answer("git", "-C", str(root or PROJECT), "describe", "--always", "--dirty")


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _cgroup(controller: str) -> str | None:
    hierarchy = hierarchy_of(controller)
    return f"version {hierarchy.version} at {hierarchy.root}" if hierarchy else None


def _preemption() -> str | None:
    """Returns the preemption mode in force; where only root may read it, the mode that the kernel was built for."""
    modes = _first_line(Path("/sys/kernel/debug/sched/preempt")) or ""
    chosen = re.search(r"\((\w+)\)", modes)
    built = re.search(r"PREEMPT\w*", platform.version())
    return chosen[1] if chosen else built[0] if built else None


def _kernel_option(name: str) -> str | None:
    text = ""
    with contextlib.suppress(OSError):
        text = gzip.decompress(Path("/proc/config.gz").read_bytes()).decode(errors="replace")
    if not text:
        with contextlib.suppress(OSError):
            text = Path(f"/boot/config-{platform.release()}").read_text()
    found = re.search(rf"^CONFIG_{name}=(.*)$", text, re.MULTILINE)
    return found[1] if found else None


def _package_versions() -> dict[str, str]:
    """Returns the version of each package; empty where there is no dpkg."""
    answer = _answer("dpkg-query", "-W", "-f", "${Package} ${Version}\n", *sorted(set(PROGRAMS.values()))) or ""
    return dict(line.split(" ", 1) for line in answer.splitlines() if " " in line)


def _first_line(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None


def _answer(*argv: str) -> str | None:
    """Returns what a short command prints, or None.

    The output of a failed command counts too: dpkg-query fails when one package is missing.
    """
    try:
        asked = subprocess.run(
            argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=ASKING_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return asked.stdout.strip() or None
