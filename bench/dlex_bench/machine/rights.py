# SPDX-License-Identifier: LGPL-2.1-or-later
"""Whether this process can get the right to change scheduling policies (CAP_SYS_NICE), or is shut in, as in most containers."""

from __future__ import annotations

import os
from pathlib import Path

CAP_SYS_NICE = 23
OUTSIDE = (
    "neither root nor setcap gives the capability CAP_SYS_NICE here, as in a container; start the container with "
    "`--cap-add=SYS_NICE` or, for fifo and rr, with `--ulimit rtprio=95`, or run this outside of it"
)


def scheduling_is_out_of_reach() -> bool:
    """Returns whether this process lacks CAP_SYS_NICE, and neither root nor a capability on a program's file gives it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    status = {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}
    bit = 1 << CAP_SYS_NICE
    if int(status["CapEff"], 16) & bit:
        return False
    return not int(status["CapBnd"], 16) & bit or os.geteuid() == 0 or status.get("NoNewPrivs") == "1"
