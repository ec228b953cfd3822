#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""summary.py [--broken NAME ...] BUILD_DIR ...: adds up the test logs that Meson left in build directories.

Prints what failed and its last words, what was skipped and why, and `N passed, N failed, N skipped`. A build directory that
did not build (--broken), or that ran no test at all, counts as one failure: silence is no success.
"""
import argparse
import json
import pathlib
import sys

LINES_OF_A_FAILURE = 25


def results_of(build_dir):
    log = build_dir / "meson-logs" / "testlog.json"
    if not log.exists():
        return []
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def said_by(result):
    return (result.get("stdout", "") + result.get("stderr", "")).strip().splitlines()


def reason(result):
    """The last line a skipped test said."""
    said = said_by(result)
    return said[-1].strip() if said else "no reason given"


def end_of(result):
    """What a failed test said last: the log does not outlast the machine that ran it."""
    return "".join(f"    {line}\n" for line in said_by(result)[-LINES_OF_A_FAILURE:])


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--broken", action="append", default=[])
    parser.add_argument("dirs", nargs="+", type=pathlib.Path)
    options = parser.parse_args()

    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for build_dir in options.dirs:
        results = results_of(build_dir)
        if not results:
            counts["failed"] += 1
            why = "did not build" if build_dir.name in options.broken else "ran no tests"
            print(f"failed: build/{build_dir.name} {why}")
        for result in results:
            where = f"{result['name']} ({build_dir.name})"
            if result["result"] in ("OK", "EXPECTEDFAIL"):
                counts["passed"] += 1
            elif result["result"] == "SKIP":
                counts["skipped"] += 1
                print(f"skipped: {where}: {reason(result)}")
            else:
                counts["failed"] += 1
                print(f"failed: {where}: {result['result'].lower()}, see {build_dir}/meson-logs/testlog.txt")
                print(end_of(result), end="")
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
