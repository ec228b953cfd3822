# SPDX-License-Identifier: LGPL-2.1-or-later
"""Finds errors in an agenda's clips, as far as this is possible before any of them is made or played."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..clips import film_is_here, why_not_makeable
from ..errors import nearest
from ..machine.policy import CALIBRATED
from ..processes import child, choose_cpus
from .jobs import combinations, layers_of, observe_of, plays, sched_of, setting_name
from .model import Agenda, Clip, Conditions, MadeClip
from .recipes import Recipe, difference_of, is_stamped, read_recipes

Place = tuple[int | str, ...]
Refuse = Callable[[Place, str], Exception]

# A stamp, as media/stamps.py draws it, is a row of BLOCKS blocks. Those in FRAME do not depend on the picture's number.
BLOCK, BLOCKS = 32, 16
FRAME = {0: True, 1: False, BLOCKS - 2: False, BLOCKS - 1: True}  # white or black
DARK_BELOW, BRIGHT_FROM = 96, 160
LOOKING_S = 20.0
# Why a clip's pictures need numbers, and what else can be done.
JOBS = "it is observed from outside; choose a clip with numbers, such as stamped_small, or observe: inside"
CALIBRATION = "the calibrated budget is found; choose a clip with numbers, such as stamped_small, or a budget in ms"


@dataclass(frozen=True)
class ClipFolders:
    """Holds the folders in which clips are searched for."""

    base: Path  # files: the agenda's folder
    root: Path  # recipes: the project's folder


@dataclass
class _Use:
    """A clip, and the settings that need the numbers of its pictures."""

    clip: Clip
    seen_by: dict[str, str] = field(default_factory=dict)  # why its numbers are needed, by setting

    def viewer(self, begun: Collection[str]) -> str | None:
        return next((who for setting, who in self.seen_by.items() if setting not in begun), None)


def check_clips(agenda: Agenda, folders: ClipFolders, refuse: Refuse, begun: Collection[str] | None = None) -> None:
    """Raises what `refuse` makes of the place and the reason of the first error, in clips that some job plays.

    `begun` are the settings that were checked when their batch began: if something happens to a clip later, only its
    own jobs are affected. None: there is no batch yet, and a clip that is missing or cannot be made is an error."""
    uses = _uses(agenda)
    for place, use in uses.items():
        _check_recipes(place, use.clip, folders.root, refuse)
        if begun is None:
            _check_presence(place, use.clip, folders.base, refuse)
    cpus = _other_cpus(agenda.config.cpu)
    for place, use in uses.items():
        if who := use.viewer(begun or ()):
            _check_view(place, use.clip, folders, cpus, who, refuse)
    for place, use in uses.items():
        if begun is None:
            _check_sources(place, use.clip, folders.root, refuse)


def _conditions(agenda: Agenda) -> Iterator[tuple[Place, Conditions]]:
    yield ("config", "defaults"), agenda.config.defaults
    for number, section in enumerate(agenda.sections):
        yield ("sections", number, "params"), section.params


def _uses(agenda: Agenda) -> dict[Place, _Use]:
    """Returns the clips that are played, by their place in the agenda and in the file's order."""
    order = {id(conditions): (*place, "clip") for place, conditions in _conditions(agenda)}
    found: dict[Place, _Use] = {}
    calibrated = False
    for combination in combinations(agenda.sections):
        layers = layers_of(agenda, combination)
        source = next((layer for layer in reversed(layers) if layer.clip), None)
        workloads = plays(agenda, combination)
        if source is None or source.clip is None or not workloads:
            continue
        use = found.setdefault(order[id(source)], _Use(source.clip))
        settings = {setting_name(combination, workload): workload for workload in workloads}
        outside = [name for name, workload in settings.items() if observe_of(agenda, layers, workload) != "inside"]
        use.seen_by |= dict.fromkeys(outside, JOBS)
        if not calibrated and CALIBRATED in sched_of(layers):
            calibrated = True  # the budget is found once, with the clip of the first
            use.seen_by = dict.fromkeys(settings, CALIBRATION) | use.seen_by
    return {place: found[place] for place in order.values() if place in found}


def _other_cpus(measured: int | None) -> frozenset[int]:
    """Returns the CPUs other than the measured one.

    Another batch may be running, and it most likely measures the CPU that this batch is to measure. An agenda may also
    be read on a machine that does not have that CPU.
    """
    return choose_cpus(measured if measured in os.sched_getaffinity(0) else None)[1]


def _check_presence(place: Place, clip: Clip, base: Path, refuse: Refuse) -> None:
    if clip.file is None:
        return
    path = base / clip.file
    if not path.is_file():
        what = "is not a file" if path.exists() else "does not exist"
        raise refuse((*place, "file"), f"is {clip.file}, which {what}; name a film, relative to the agenda's folder")


def _check_recipes(place: Place, clip: Clip, root: Path, refuse: Refuse) -> None:
    for where, name in _recipe_names(place, clip):
        known = read_recipes(root)
        if name not in known:
            advice = nearest(name, list(known)) or "; `media/make --list` lists all recipes"
            raise refuse(where, f"is {name}, but media/ has no such recipe{advice}")


def _check_sources(place: Place, clip: Clip, root: Path, refuse: Refuse) -> None:
    """Refuses a clip that cannot be made here. Of clip and without_film, checks only the one that is played."""
    where, made = list(_made(place, clip))[-1 if clip.without_film and not film_is_here() else 0]
    for key in ("recipe", "unstamped"):
        name = getattr(made, key)
        if name and (reason := why_not_makeable(root, name)):
            raise refuse((*where, key), f"is {name}, which cannot be made here: {reason}")


def _recipe_names(place: Place, clip: Clip) -> Iterator[tuple[Place, str]]:
    for where, made in _made(place, clip):
        for key in ("recipe", "unstamped"):
            if name := getattr(made, key):
                yield (*where, key), name


def _made(place: Place, clip: Clip) -> Iterator[tuple[Place, Clip | MadeClip]]:
    """Yields the clip and its without_film with their places. Which of them is played depends on the machine."""
    yield place, clip
    if clip.without_film:
        yield (*place, "without_film"), clip.without_film


def _check_view(place: Place, clip: Clip, folders: ClipFolders, cpus: Collection[int], who: str, refuse: Refuse) -> None:
    without = f"whose pictures have no numbers; by these numbers {who}"
    if clip.file is not None:
        if _has_stamp(folders.base / clip.file, cpus) is False:
            raise refuse((*place, "file"), f"is {clip.file}, {without}")
        return
    recipes = read_recipes(folders.root)
    for where, made in _made(place, clip):
        if not is_stamped(recipes[str(made.recipe)]):
            raise refuse((*where, "recipe"), f"is {made.recipe}, {without}")
        if made.unstamped and (reason := _no_pair(recipes, str(made.recipe), made.unstamped)):
            raise refuse((*where, "unstamped"), f"is {made.unstamped}, {reason}")


def _no_pair(recipes: dict[str, Recipe], name: str, unstamped: str) -> str | None:
    if is_stamped(recipes[unstamped]):
        return "whose pictures have numbers as well; name the same film without numbers"
    if what := difference_of(recipes[name], recipes[unstamped]):
        return f"which has another {what} than {name}; name the same film without numbers"
    return None


def _has_stamp(path: Path, cpus: Collection[int]) -> bool | None:
    """Returns whether the first picture has a stamp along its top; None: unknown, and the job must deal with it."""
    line = f"crop={BLOCK * BLOCKS}:2:0:{BLOCK // 2},format=gray"
    argv: list[str | Path] = ["ffmpeg", "-nostdin", "-v", "error", "-filter_threads", "1", "-threads", "1", "-i", path]
    argv += ["-frames:v", "1", "-vf", line, "-f", "rawvideo", "-"]
    try:
        with child(argv, cpus=cpus, stdout=subprocess.PIPE) as process:
            pixels = process.communicate(timeout=LOOKING_S)[0]
    except (OSError, subprocess.SubprocessError):
        return None
    if len(pixels) < BLOCK * BLOCKS:
        return None
    blocks = {number: pixels[BLOCK * number + BLOCK // 2] for number in FRAME}
    return all(blocks[number] >= BRIGHT_FROM if white else blocks[number] < DARK_BELOW for number, white in FRAME.items())
