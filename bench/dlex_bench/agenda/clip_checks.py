# SPDX-License-Identifier: LGPL-2.1-or-later
"""What is wrong with an agenda's clips, as far as it can be told before any of them is made or played."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

from ..machine.policy import CALIBRATED
from .jobs import combinations, layers_of, observe_of, plays, sched_of
from .model import Agenda, Clip, Conditions, MadeClip
from .nearest import nearest
from .recipes import Recipe, difference_of, is_stamped, read_recipes

Place = tuple[int | str, ...]
Refuse = Callable[[Place, str], Exception]

# A stamp, as media/stamps.py draws it: so many blocks in a row, of which these do not depend on the picture's number.
BLOCK, BLOCKS = 32, 16
FRAME = {0: True, 1: False, BLOCKS - 2: False, BLOCKS - 1: True}  # white or black
DARK_BELOW, BRIGHT_FROM = 96, 160
LOOKING_S = 20.0
# Who wants the numbers, and what else can be done.
JOBS = "it is seen from outside; choose a clip with numbers, such as stamped_small, or observe: inside"
CALIBRATION = "the calibrated budget is found; choose a clip with numbers, such as stamped_small, or a budget in ms"


def check_clips(agenda: Agenda, base: Path, root: Path, refuse: Refuse) -> None:
    """Raises what `refuse` makes of the place and the reason of the first mistake. Files are sought from `base`, recipes
    in the project's folder `root`."""
    for place, clip in _clips(agenda):
        _check_presence(place, clip, base, root, refuse)
    seen = _seen_from_outside(agenda)
    for place, clip in _clips(agenda):
        if place in seen:
            _check_view(place, clip, base, root, seen[place], refuse)


def _clips(agenda: Agenda) -> Iterator[tuple[Place, Clip]]:
    for place, conditions in _conditions(agenda):
        if conditions.clip:
            yield (*place, "clip"), conditions.clip


def _conditions(agenda: Agenda) -> Iterator[tuple[Place, Conditions]]:
    yield ("config", "defaults"), agenda.config.defaults
    for number, section in enumerate(agenda.sections):
        yield ("sections", number, "params"), section.params


def _seen_from_outside(agenda: Agenda) -> dict[Place, str]:
    """The clips of which somebody wants to see the numbers on the screen, and who that is."""
    places = {id(conditions): (*place, "clip") for place, conditions in _conditions(agenda)}
    found: dict[Place, str] = {}
    calibrated = False
    for combination in combinations(agenda.sections):
        layers = layers_of(agenda, combination)
        source = next((layer for layer in reversed(layers) if layer.clip), None)
        workloads = plays(agenda, combination)
        if source is None or not workloads:
            continue
        place = places[id(source)]
        if any(observe_of(agenda, layers, workload) != "inside" for workload in workloads):
            found[place] = JOBS
        if not calibrated and CALIBRATED in sched_of(layers):
            calibrated = True  # once, by the clip of the first
            found.setdefault(place, CALIBRATION)
    return found


def _check_presence(place: Place, clip: Clip, base: Path, root: Path, refuse: Refuse) -> None:
    if clip.file is not None:
        path = base / clip.file
        if not path.is_file():
            what = "is no file" if path.exists() else "is not there"
            raise refuse((*place, "file"), f"is {clip.file}, which {what}; name a film, from the agenda's folder")
        return
    for where, name in _recipe_names(place, clip):
        known = read_recipes(root)
        if name not in known:
            advice = nearest(name, list(known)) or "; `media/make --list` names those that there are"
            raise refuse(where, f"is {name}, which media/ has no recipe of{advice}")


def _recipe_names(place: Place, clip: Clip) -> Iterator[tuple[Place, str]]:
    for where, made in _made(place, clip):
        for key in ("recipe", "unstamped"):
            if name := getattr(made, key):
                yield (*where, key), name


def _made(place: Place, clip: Clip) -> Iterator[tuple[Place, Clip | MadeClip]]:
    """Which of them is played depends on the machine."""
    yield place, clip
    if clip.without_film:
        yield (*place, "without_film"), clip.without_film


def _check_view(place: Place, clip: Clip, base: Path, root: Path, who: str, refuse: Refuse) -> None:
    without = f"whose pictures have no numbers, by which {who}"
    if clip.file is not None:
        if _has_stamp(base / clip.file) is False:
            raise refuse((*place, "file"), f"is {clip.file}, {without}")
        return
    recipes = read_recipes(root)
    for where, made in _made(place, clip):
        if not is_stamped(recipes[str(made.recipe)]):
            raise refuse((*where, "recipe"), f"is {made.recipe}, {without}")
        if made.unstamped and (reason := _no_pair(recipes, str(made.recipe), made.unstamped)):
            raise refuse((*where, "unstamped"), f"is {made.unstamped}, {reason}")


def _no_pair(recipes: dict[str, Recipe], name: str, unstamped: str) -> str | None:
    if is_stamped(recipes[unstamped]):
        return "whose pictures have numbers as well; name the same film without"
    if what := difference_of(recipes[name], recipes[unstamped]):
        return f"of another {what} than {name}; name the same film without numbers"
    return None


def _has_stamp(path: Path) -> bool | None:
    """Whether the first picture has one along its top; None where this cannot be told, which is the job's affair."""
    line = f"crop={BLOCK * BLOCKS}:2:0:{BLOCK // 2},format=gray"
    argv = ["ffmpeg", "-nostdin", "-v", "error", "-i", path, "-frames:v", "1", "-vf", line, "-f", "rawvideo", "-"]
    try:
        pixels = subprocess.run(argv, capture_output=True, timeout=LOOKING_S, check=False).stdout
    except (OSError, subprocess.SubprocessError):
        return None
    if len(pixels) < BLOCK * BLOCKS:
        return None
    blocks = {place: pixels[BLOCK * place + BLOCK // 2] for place in FRAME}
    return all(blocks[place] >= BRIGHT_FROM if white else blocks[place] < DARK_BELOW for place, white in FRAME.items())
