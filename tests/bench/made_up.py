# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes invented results, for tests of code that evaluates results."""

from outside import with_packages

with_packages("numpy, scipy, pydantic, yaml, rich")

from dlex_bench.analysis import results_frame
from dlex_bench.job.result import JobResult


def result(workload, repetition=1, section="cbs", status="done", load="rtapp", sched="deadline:8/40", machine="m",
           constrains=None, work_held=None, **figures):
    missed = figures.pop("missed", None)
    slack_us = figures.pop("slack_us", 100)
    task = {
        "periods": 1000, "missed": missed, "missed_fraction": (missed or 0) / 1000, "work_ms": figures.pop("work_ms", None),
        "slack_us": {"min": slack_us, "mean": slack_us},
    }
    rules = {"dlex_paper": "paper", "dlex_slack": "slack"}
    job = {
        "id": f"{section}-{workload}-r{repetition}", "repetition": repetition, "section": section, "workload": workload,
        "player": "dlex-play" if workload.startswith("dlex") else workload.split("_")[0], "sched": sched,
        "player_params": {"rule": rules.get(workload)}, "load": {"kind": load, "sched": "same"}, "clip": {},
        "observe": "outside",
    }
    return JobResult.model_validate({
        "version": 1, "job": job, "status": status, "reason": None if status == "done" else "it broke", "machine": machine,
        "view": "outside", "policy": {"applied": sched, "constrains": constrains}, "load": {"work_held": work_held},
        "figures": {"frame_ms": 40.0, **figures}, "inside": None,
        "rtapp": None if missed is None else {"rt-app-1": task, "rt-app-2": task},
    })


def changed(one, **keys):
    """Returns the same result with other values of these keys."""
    return JobResult.model_validate({**one.to_json(), **keys})


def point(sd=10.0, mean=10.0, rmse=100.0, dropped=10.0):
    return {"skew_ms_sd": sd, "skew_ms_abs_mean": mean, "rmse_q16_sum": rmse, "dropped": dropped}


def repeated(workload, points, **options):
    return [result(workload, number, **options, **it) for number, it in enumerate(points, 1)]


def settings_of(*groups):
    return results_frame.by_setting(results_frame.rows([one for group in groups for one in group]))
