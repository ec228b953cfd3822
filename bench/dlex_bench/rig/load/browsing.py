# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs Chromium without a window. It scrolls a long local page, as somebody does who reads beside a film."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from ...errors import LabError
from ...processes import child
from ..device import base_environment
from ..guest import Guest, guest
from .running import RunningLoad, ended_by_itself, wait_until

BROWSER = "chromium"
PACKAGES = {BROWSER: "chromium"}
PARTS = 400
SIZE = "1280,720"
# Nothing but the page: no profile of a user, no extensions, and no conversation with a server.
OPTIONS = ["--headless", "--disable-gpu", "--no-first-run", "--no-default-browser-check", "--disable-background-networking",
           "--disable-component-update", "--disable-extensions", "--disable-sync", "--enable-logging=stderr"]
# The page says it in the browser's log, which keeps only the last count of a line.
FRAMES = re.compile(r'"frames (\d+)"')
# More than a few lines of the log.
TAIL_BYTES = 4096
SCRIPT = """\
let frames = 0, place = 0, step = 12;
function draw() {
    place += step;
    if (place < 0 || place > document.body.scrollHeight - innerHeight) step = -step;
    scrollTo(0, place);
    if (++frames % 6 === 0) console.log("frames " + frames);
    requestAnimationFrame(draw);
}
requestAnimationFrame(draw);
"""


def scrolled_page() -> str:
    """Returns the page: headings, and paragraphs on backgrounds of changing colour."""
    words = "These words fill a few lines of a page that somebody might read. " * 20
    parts = [
        f'<h2>Part {number}</h2><p style="background:linear-gradient(90deg,hsl({7 * number % 360} 60% 85%),white)">{words}</p>'
        for number in range(PARTS)
    ]
    return "\n".join(['<!DOCTYPE html><meta charset="utf-8"><title>A page</title><body>', *parts, f"<script>{SCRIPT}</script>", ""])


def frames_in(log: Path) -> int:
    """Returns how many frames the page has drawn, as the browser's log says; 0 if it says nothing."""
    with log.open("rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - TAIL_BYTES))
        found = FRAMES.findall(file.read().decode(errors="replace"))
    return int(found[-1]) if found else 0


def browser_command(home: Path, user: Guest | None) -> list[str]:
    """Returns the command. Chromium's sandbox does not run as root, so root's browser runs as the guest `user`."""
    where = [f"--user-data-dir={home / 'profile'}", f"--window-size={SIZE}", (home / "page.html").as_uri()]
    return [*(user.prefix if user else []), BROWSER, *OPTIONS, *where]


@contextlib.contextmanager
def browsing(folder: Path, cpus: Collection[int] | None, enter: Callable[[], None] | None = None) -> Iterator[RunningLoad]:
    """Runs the browser while the block runs, which begins when the page has drawn something. Its home is in `folder`."""
    home, log = folder / "home", folder / "browser.log"
    home.mkdir()
    (home / "page.html").write_text(scrolled_page())
    user = guest()
    if user:
        user.let_in(folder)
        user.own(home)
    argv, env = browser_command(home, user), base_environment(home)
    with (
        log.open("wb") as words,
        child(argv, cpus=cpus, stdout=words, stderr=words, env=env, enter=enter, orphaned=signal.SIGTERM) as process,
    ):

        def check() -> None:
            if process.poll() is not None:
                raise LabError(ended_by_itself("browser", process, log))

        wait_until("browser", lambda: frames_in(log) > 0, check)
        yield RunningLoad(check, lambda: frames_in(log), "frames")
