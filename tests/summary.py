#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Adds up the test logs that Meson left in build directories.

    summary.py --again BUILD_DIR                    # the names of the tests to run again, a line each; nothing if many failed
    summary.py [--broken NAME ...] BUILD_DIR ...

The second prints the failed tests with the end of their output, the skipped tests with the reason, and `N passed, N failed,
N skipped`. A build directory that did not build (--broken), or that ran no test, counts as one failure. A few tests that
failed while others ran are run again, alone (log "again"): many of them play in real time, on machines that halt at times.
Those that pass then count as passed, and are shown with their first failure. A test whose output has the report of a
sanitizer is not run again: chance only decides whether such an error is seen.
"""
import argparse
import json
import pathlib
import sys

LINES_OF_A_FAILURE = 25
MOST_AGAIN = 4
GOOD = ("OK", "EXPECTEDFAIL")
COUNTED = (*GOOD, "SKIP")
# As in "ERROR: AddressSanitizer: ..." and "file.c:1:2: runtime error: ...".
SANITIZER_WORDS = ("Sanitizer", "runtime error:")


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


def has_sanitizer_report(result):
    return any(word in line for line in said_by(result) for word in SANITIZER_WORDS)


def print_again(build_dir):
    failed = [result for result in results_of(build_dir) if result["result"] not in COUNTED]
    if len(failed) <= MOST_AGAIN:
        print("".join(f"{name_of(result)}\n" for result in failed if not has_sanitizer_report(result)), end="")


def add_up(build_dir, counts):
    """Adds the results of a build directory to the counts, and prints all that did not simply pass."""
    passed_again = {result["name"] for result in results_of(build_dir, "again") if result["result"] in GOOD}
    for result in results_of(build_dir):
        where = f"{result['name']} ({build_dir.name})"
        if result["result"] in GOOD:
            counts["passed"] += 1
        elif result["result"] == "SKIP":
            counts["skipped"] += 1
            print(f"skipped: {where}: {reason(result)}")
        elif result["name"] in passed_again and not has_sanitizer_report(result):
            counts["passed"] += 1
            print(f"passed only alone, at the second try: {where}: {result['result'].lower()} at the first")
            print(end_of(result), end="")
        else:
            counts["failed"] += 1
            print(f"failed: {where}: {result['result'].lower()}, see {build_dir}/meson-logs/testlog.txt")
            print(end_of(result), end="")


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--again", type=pathlib.Path)
    parser.add_argument("--broken", action="append", default=[])
    parser.add_argument("dirs", nargs="*", type=pathlib.Path)
    options = parser.parse_args()
    if options.again:
        return print_again(options.again)

    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for build_dir in options.dirs:
        add_up(build_dir, counts)
        if not results_of(build_dir):
            counts["failed"] += 1
            why = "did not build" if build_dir.name in options.broken else "ran no tests"
            print(f"failed: build/{build_dir.name} {why}")
    print(", ".join(f"{count} {kind}" for kind, count in counts.items()))
    return 1 if counts["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
