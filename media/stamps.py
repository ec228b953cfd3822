# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes the marks of a stamped clip, by which an observer of screen and loudspeaker knows what it saw and heard.

A picture carries its number in a 12-bit Gray code, in blocks of 32 x 32 pixels, along the top edge and once more along
the bottom edge; a torn picture shows two numbers. From the left there are a white and a black block (no picture looks
like a stamp by chance), the bits from the most significant one, then a black and a white block.
bench/observer/stamp.h reads it.

The sound is silence, with a tone of 40 ms in each quarter of a second. The frequency of the tone shows which quarter it
is; the frequencies repeat after 20 s. The tone does not begin with the quarter, because devices swallow the first
instants of a sound. Each tone lasts whole periods. bench/observer/burst.h reads it.
"""

BLOCK = 32
BITS = 12

BURST_EVERY_S, BURST_AT_S, BURST_S = 0.25, 0.1, 0.04
LOWEST_HZ, STEP_HZ, TONES = 1000, 50, 80


def _row(y: str) -> list[str]:
    """Returns the filters for the blocks of one edge: white on a black bar."""

    def block(place: int, blocks: int = 1, colour: str = "white", enable: str = "") -> str:
        box = f"drawbox=x={BLOCK * place}:y={y}:w={BLOCK * blocks}:h={BLOCK}:color={colour}:t=fill"
        return f"{box}:enable='{enable}'" if enable else box

    bits = [
        block(2 + place, enable=f"mod(floor(n/{2 ** bit})+floor(n/{2 ** (bit + 1)}),2)")
        for place, bit in enumerate(reversed(range(BITS)))
    ]
    return [block(0, BITS + 4, "black"), block(0), *bits, block(BITS + 3)]


def picture_filter() -> str:
    """Returns an ffmpeg filter that stamps the pictures."""
    return ",".join(_row("0") + _row(f"ih-{BLOCK}"))


def sound_source() -> str:
    """Returns an ffmpeg source of the sound, without end."""
    tone = f"sin(2*PI*({LOWEST_HZ}+{STEP_HZ}*mod(floor(t/{BURST_EVERY_S}),{TONES}))*t)"
    into = f"mod(t,{BURST_EVERY_S})"
    channel = f"0.5*gte({into},{BURST_AT_S})*lt({into},{BURST_AT_S + BURST_S:g})*{tone}"
    return f"aevalsrc=exprs='{channel}|{channel}':sample_rate=48000"


def spelled_out(recipe: dict) -> dict:
    """Returns the recipe with {stamps} and {bursts} replaced by what they stand for."""
    marks = {"{stamps}": picture_filter(), "{bursts}": sound_source()}
    whole = dict(recipe)
    for key in ("inputs", "output"):
        for mark, text in marks.items():
            if mark in whole.get(key, ""):
                whole[key] = whole[key].replace(mark, text)
    return whole
