# SPDX-License-Identifier: LGPL-2.1-or-later
"""The command lines of this experiment: players without screen and sound, and the films that they play."""

from __future__ import annotations

from pathlib import Path

# Ordinary players in their ordinary settings, except that nothing is shown or heard.
PLAYERS: dict[str, list[str]] = {
    "mplayer": ["mplayer", "-noconfig", "all", "-really-quiet", "-noconsolecontrols", "-nolirc", "-vo", "null", "-ao", "null"],
    "mpv": ["mpv", "--no-config", "--really-quiet", "--no-input-terminal", "--vo=null", "--ao=null"],
    "ffplay": ["ffplay", "-hide_banner", "-loglevel", "error", "-autoexit"],
}
ENVIRONMENT = {"SDL_VIDEODRIVER": "dummy", "SDL_AUDIODRIVER": "dummy", "TERM": "dumb"}
RATES: dict[str, float] = {
    "24000/1001": 24000 / 1001, "24": 24.0, "25": 25.0, "30000/1001": 30000 / 1001, "30": 30.0, "50": 50.0,
    "60000/1001": 60000 / 1001, "60": 60.0,
}


def film_command(rate: str, seconds: float, path: Path) -> list[str]:
    """Returns the command that makes a film at this rate, with sound."""
    return [
        *("ffmpeg", "-nostdin", "-hide_banner", "-loglevel", "error", "-y"),
        *("-f", "lavfi", "-i", f"testsrc2=size=1280x720:rate={rate}:duration={seconds:g}"),
        *("-f", "lavfi", "-i", f"sine=frequency=440:sample_rate=48000:duration={seconds:g}"),
        *("-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p", "-c:a", "aac", "-f", "mp4", str(path)),
    ]
