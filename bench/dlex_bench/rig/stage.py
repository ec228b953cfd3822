# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the screen and the sound card together, as a player finds them."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from ..errors import LabError
from .device import base_environment
from .folder import private_folder
from .guest import Guest
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
        """Raises an error that names the device that died: anything measured since then is worthless."""
        for device in (self.display, self.sound):
            if sentence := device.obituary():
                raise LabError(sentence)


@contextlib.contextmanager
def stage(
    size: tuple[int, int], cpus: Collection[int] | None, user: Guest | None = None, gl: bool = False
) -> Iterator[Stage]:
    """Runs a screen of `size` pixels and a sound card while the block runs.

    The servers of both run on `cpus`, which are those that are not measured; None: on any CPU.
    `user` is another user who may use them. `gl`: the screen has OpenGL.
    """
    with private_folder() as home, display(size, cpus, gl) as screen, sound(cpus) as card:
        if user:
            user.own(home)
            for device in (screen, card):
                user.let_in(device.log.parent)
        yield Stage(screen, card, base_environment(home) | screen.environment | card.environment)
