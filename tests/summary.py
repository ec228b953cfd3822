#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adds up the test logs that Meson left in build directories.

    summary.py --failed BUILD_DIR                   # the names of its failed tests, a line each; nothing if they are many
    summary.py [--broken NAME ...] BUILD_DIR ...

The second prints the failed tests with the end of their output, the skipped tests with the reason, and `N passed, N failed,
N skipped`. A build directory that did not build (--broken), or that ran no test, counts as one failure. A few tests that
failed while others ran are run again, alone (log "again"): many of them play in real time, on machines that halt at times.
Those that pass then count as passed, and are shown with their first failure.
"""
import argparse
import json
import pathlib
import sys

LINES_OF_A_FAILURE = 25
MOST_AGAIN = 4
GOOD = ("OK", "EXPECTEDFAIL")
COUNTED = (*GOOD, "SKIP")


def results_of(build_dir, log="testlog"):
    log = build_dir / "meson-logs" / f"{log}.json"
    if not log.exists():
        return []
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


def said_by(result):
    return (result.get("stdout", "") + result.get("stderr", "")).strip().splitlines()


def reason(result):
    """Returns the last line of a skipped test's output."""
    said = said_by(result)
    return said[-1].strip() if said else "no reason given"


def end_of(result):
    """Returns the end of a failed test's output. The log itself may be lost with the machine that ran the test."""
    return "".join(f"    {line}\n" for line in said_by(result)[-LINES_OF_A_FAILURE:])


def name_of(result):
    """Returns the test's name as `meson test` takes it."""
    return result["name"].split(" / ")[-1]


def print_failed(build_dir):
    failed = [name_of(result) for result in results_of(build_dir) if result["result"] not in COUNTED]
    if len(failed) <= MOST_AGAIN:
        print("".join(f"{name}\n" for name in failed), end="")


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--failed", type=pathlib.Path)
    parser.add_argument("--broken", action="append", default=[])
    parser.add_argument("dirs", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    if options.failed:
        return print_failed(options.failed)

    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for build_dir in options.dirs:
        results = results_of(build_dir)
        passed_again = {result["name"] for result in results_of(build_dir, "again") if result["result"] in GOOD}
        if not results:
            counts["failed"] += 1
            why = "did not build" if build_dir.name in options.broken else "ran no tests"
            print(f"failed: build/{build_dir.name} {why}")
        for result in results:
            where = f"{result['name']} ({build_dir.name})"
            if result["result"] in GOOD:
                counts["passed"] += 1
            elif result["result"] == "SKIP":
                counts["skipped"] += 1
                print(f"skipped: {where}: {reason(result)}")
            elif result["name"] in passed_again:
                counts["passed"] += 1
                print(f"passed only alone, at the second try: {where}: {result['result'].lower()} at the first")
                print(end_of(result), end="")
            else:
                counts["failed"] += 1
                print(f"failed: {where}: {result['result'].lower()}, see {build_dir}/meson-logs/testlog.txt")
                print(end_of(result), end="")
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
