# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads what a made clip is, and checks whether that is what its recipe promises."""

import json

from h264_facts import H264_FACTS, h264_facts
from workshop import run


def probe(path):
    answer = run(
        [
            "ffprobe",
            "-v",
            "error",
            "-count_packets",
            "-show_streams",
            "-show_format",
            "-of",
            "json",
            str(path),
        ]
    )
    return json.loads(answer)


def facts_of(path, wanted):
    """Returns the facts with which `expect` of a recipe, here `wanted`, is compared."""
    answer = probe(path)
    facts = {"seconds": float(answer["format"]["duration"])}
    for stream in answer["streams"]:
        if stream["codec_type"] == "audio":
            facts["audio"] = stream["codec_name"]
        elif stream["codec_type"] == "video":
            facts |= {
                "video": stream["codec_name"],
                "profile": stream.get("profile"),
                "size": f"{stream['width']}x{stream['height']}",
                "frames": int(stream["nb_read_packets"]),
                "field_order": stream.get("field_order"),
                "start": float(stream["start_time"]),
            }
    if H264_FACTS & wanted.keys():
        stream = run(
            [
                "ffmpeg",
                "-v",
                "error",
                "-i",
                str(path),
                "-map",
                "0:v:0",
                "-c",
                "copy",
                "-f",
                "h264",
                "-",
            ]
        )
        facts |= h264_facts(stream)
    return facts


def expected_of(recipe):
    """Returns `expect`; a stamped clip begins at 0, because its pictures are compared with those of the clip without stamps."""
    return recipe["expect"] | ({"start": 0.0} if "{stamps}" in recipe.get("output", "") else {})


def deviations(expect, facts, prefix=""):
    for key, wanted in expect.items():
        found = facts.get(key)
        if isinstance(wanted, dict):
            yield from deviations(wanted, found or {}, f"{prefix}{key}.")
        elif isinstance(wanted, list):
            if found is None or not wanted[0] <= found <= wanted[1]:
                yield f"{prefix}{key} is {found}, not from {wanted[0]} to {wanted[1]}"
        elif found != wanted:
            yield f"{prefix}{key} is {found}, not {wanted}"
