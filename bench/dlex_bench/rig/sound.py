# SPDX-License-Identifier: LGPL-2.1-or-later
"""A sound card that nobody hears: a private PulseAudio daemon with a null sink, whose monitor the observer records.

The user's daemon and all existing configuration are neither changed nor read. A null sink could hold 2 s of sound, but
it takes the lowest latency that a client asks for: 10 ms under ffplay, 60 under mpv, 200 under dlex-play, 210 under
mplayer. The client's own clock accounts for this latency.
"""

from __future__ import annotations

import contextlib
import secrets
import signal
import socket
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from ..paths import require_installed
from ..processes import child
from .device import Device, base_environment, wait_until_ready
from .folder import private_folder

SINK = "dlex"
RATE_HZ = 48_000
# Without rewinding, the sink works 50 ms ahead, as sound cards do. With rewinding, an idle null sink mixes 2 s of silence
# in advance, and a sound that starts then is heard up to 2 s late: ffplay, which does not ask, was 1.4 s off.
NULL_SINK = f"sink_name={SINK} rate={RATE_HZ} channels=2 norewinds=1"
# With real-time scheduling, the daemon would interrupt the measured player if they share a CPU.
DAEMON_CONF = f"""\
realtime-scheduling = no
high-priority = no
exit-idle-time = -1
allow-module-loading = no
flat-volumes = no
default-sample-rate = {RATE_HZ}
"""
CLIENT_CONF = "autospawn = no\n"


@dataclass(frozen=True)
class Sound(Device):
    sink: str = SINK

    @property
    def monitor(self) -> str:
        return f"{self.sink}.monitor"


@contextlib.contextmanager
def sound(cpus: Collection[int] | None) -> Iterator[Sound]:
    """Runs a null sink of 48 kHz, stereo, while the block runs. Its daemon runs on `cpus`."""
    program = require_installed("pulseaudio", "pulseaudio")
    with private_folder() as folder, (folder / "log").open("wb") as log_file:
        for name, text in (("daemon.conf", DAEMON_CONF), ("client.conf", CLIENT_CONF)):
            (folder / name).write_text(text)
        (folder / "cookie").write_bytes(secrets.token_bytes(256))
        argv = [program, *_options(folder)]
        env = _daemon_environment(folder)
        with child(argv, cpus=cpus, env=env, stderr=log_file, orphaned=signal.SIGTERM) as daemon:
            wait_until_ready("pulseaudio", daemon, folder / "log", lambda: _listens(folder / "socket"))
            yield Sound("pulseaudio", daemon, folder / "log", _client_environment(folder))


def _options(folder: Path) -> list[str]:
    flags = ["-n", "--daemonize=no", "--system=no", "--use-pid-file=no", "--log-target=stderr", "--log-level=error"]
    modules = [
        f"module-null-sink {NULL_SINK}",
        f"module-native-protocol-unix socket={folder / 'socket'} auth-cookie={folder / 'cookie'}",
    ]
    return [*flags, *(f"--load={module}" for module in modules)]


def _daemon_environment(folder: Path) -> dict[str, str]:
    own = {"PULSE_CONFIG": "daemon.conf", "PULSE_RUNTIME_PATH": "run", "PULSE_STATE_PATH": "state"}
    return base_environment(folder) | {name: str(folder / file) for name, file in own.items()}


def _client_environment(folder: Path) -> dict[str, str]:
    return {
        "PULSE_SERVER": f"unix:{folder / 'socket'}",
        "PULSE_COOKIE": str(folder / "cookie"),
        "PULSE_CLIENTCONFIG": str(folder / "client.conf"),
        "PULSE_SINK": SINK,
    }


def _listens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(str(path)) == 0
