# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes recipes, as recipes.toml has them, of the small clips in gate_clips.toml."""

import tomllib
from pathlib import Path

SIZE, FRAMES = "328x184", 60
# Zooms in without pause. The noise is new in each picture, so that nothing can be skipped.
SOURCE = "mandelbrot=size={size}:rate=25:start_scale=3:end_scale=0.02:end_pts=60:maxiter=120"
NOISE = "noise=alls=8:allf=t:all_seed=3"


def _recipe(clip: dict) -> dict:
    size, frames = clip.get("size", SIZE), clip.get("frames", FRAMES)
    filters = ["format=yuv444p", NOISE, f"format={clip.get('pixels', 'yuv420p')}"]
    if "filter" in clip:
        filters.append(clip["filter"])
    count = frames if isinstance(frames, int) else FRAMES
    return {
        "about": f"tiny: {clip['about']}",
        "inputs": f"-f lavfi -i {SOURCE.format(size=size)}",
        "output": f"-vf \"{','.join(filters)}\" -frames:v {count} {clip['encoder']}",
        "suffix": clip.get("suffix", "mp4"),
        "expect": {"frames": frames, "video": clip["video"], "size": size},
    }


def gate_clips(path: Path) -> dict:
    """Returns the recipes by name."""
    return {name: _recipe(clip) for name, clip in tomllib.loads(path.read_text()).items()}
