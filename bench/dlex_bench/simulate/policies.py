# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names the policies that can be simulated."""

from __future__ import annotations

from ..agenda.job import Job

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


def simulated_policy(job: Job) -> str | None:
    """Returns the name of the job's policy in the simulator; None if it cannot be simulated."""
    params = job.player_params
    options = set(params.options)
    if params.drop == "deadline":
        chosen = {"--strict": "strict", "--skip-to-key=never": "never-skip", "--degrade=auto": "degrade"}
        rule = params.rule or ""
        if rule == "plan" and len(options) == 1:
            rule, options = chosen.get(options.pop(), ""), set()
        return rule if rule in POLICIES and not options else None
    return params.drop if params.drop in POLICIES and not options else None
