# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts what a recipe promises in an H.264 byte stream: pictures, droppable ones, slices, coding.

ffprobe does not report nal_ref_idc, so the few fields that matter are read here (ITU-T H.264, 7.3).
"""

import re

START_CODE = re.compile(rb"\x00\x00\x01(?=.)", re.DOTALL)
SLICE, IDR_SLICE, PICTURE_PARAMETERS = 1, 5, 8
SLICE_LETTERS = "PBIPI"  # slice_type modulo 5; SP and SI count as P and I
HEADER_BYTES = 24

H264_FACTS = {"droppable", "pictures", "slices", "cabac"}


class BitReader:
    """Reads the beginning of a NAL unit's payload, without its emulation prevention bytes."""

    def __init__(self, payload):
        raw = payload.replace(b"\x00\x00\x03", b"\x00\x00")
        self.bits = "".join(f"{byte:08b}" for byte in raw)
        self.at = 0

    def flag(self):
        self.at += 1
        return self.bits[self.at - 1] == "1"

    def exp_golomb(self):
        zeros = self.bits.index("1", self.at) - self.at
        end = self.at + 2 * zeros + 1
        value = int(self.bits[self.at + zeros : end], 2) - 1
        self.at = end
        return value


def _read_picture_parameters(reader, facts):
    reader.exp_golomb()  # pic_parameter_set_id
    reader.exp_golomb()  # seq_parameter_set_id
    facts["cabac"] = reader.flag()


def _read_slice(reader, reference, facts):
    first_macroblock = reader.exp_golomb()
    letter = SLICE_LETTERS[reader.exp_golomb() % 5]
    if first_macroblock:
        facts["slices_here"] += 1
    else:
        facts["slices_here"] = 1
        facts["pictures"][letter] += 1
        facts["droppable"] += not reference
    facts["slices"] = max(facts["slices"], facts["slices_here"])


def h264_facts(stream):
    """Returns what H264_FACTS names. `stream` is the bytes of an Annex B stream of whole frames."""
    facts = {
        "droppable": 0,
        "slices": 0,
        "slices_here": 0,
        "cabac": None,
        "pictures": {"I": 0, "P": 0, "B": 0},
    }
    for match in START_CODE.finditer(stream):
        header = stream[match.end()]
        reader = BitReader(stream[match.end() + 1 : match.end() + 1 + HEADER_BYTES])
        kind = header & 31
        if kind == PICTURE_PARAMETERS:
            _read_picture_parameters(reader, facts)
        elif kind in (SLICE, IDR_SLICE):
            _read_slice(reader, reference=header >> 5 & 3, facts=facts)
    del facts["slices_here"]
    return facts
