# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names the policies that can be simulated."""

from __future__ import annotations

# The options of dlex-bench-sim for each policy.
POLICIES = {
    "none": ("--drop=none",),
    "heuristic": ("--drop=heuristic",),
    "vlc": ("--drop=vlc",),
    "paper": ("--deadline-rule=paper",),
    "slack": ("--deadline-rule=slack",),
    "plan": ("--deadline-rule=plan",),
    "strict": ("--deadline-rule=plan", "--strict"),
    "never-skip": ("--deadline-rule=plan", "--skip-to-key=never"),
    "degrade": ("--deadline-rule=plan", "--degrade=auto"),
    "clairvoyant": ("--clairvoyant=drops",),
    "clairvoyant-rmse": ("--clairvoyant=rmse",),
}
