# SPDX-License-Identifier: LGPL-2.1-or-later
"""Screen and sound card together, as a player finds them."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from ..errors import LabError
from .environment import base_environment
from .folder import private_folder
from .screen import Display, display
from .sound import Sound, sound


@dataclass(frozen=True)
class Stage:
    display: Display
    sound: Sound
    environment: dict[str, str]
    """The whole environment of a program on this stage."""

    def alive(self) -> bool:
        return self.display.alive() and self.sound.alive()

    def require_alive(self) -> None:
        """Raises what names the device that died: what was measured since is worth nothing."""
        for device in (self.display, self.sound):
            if sentence := device.obituary():
                raise LabError(sentence)


@contextlib.contextmanager
def stage(size: tuple[int, int], cpus: Collection[int]) -> Iterator[Stage]:
    """A screen of `size` pixels and a sound card, both served on `cpus`: those that are not measured."""
    with private_folder() as home, display(size, cpus) as screen, sound(cpus) as card:
        yield Stage(screen, card, base_environment(home) | screen.environment | card.environment)
