#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# Tests dlex-sched's options, messages and exit codes.
# Run as: dlex_sched_commands.sh DLEX_SCHED MANUAL_PAGE
set -u
export LC_ALL=C
program=$1 manual=$2
failed=0

# expect CODE TEXT ARGUMENT...: runs the program and expects this exit code, and this text in what it prints.
expect() {
    code=$1 text=$2
    shift 2
    output=$("$program" "$@" 2>&1)
    actual=$?
    if [ "$actual" != "$code" ] || ! printf '%s\n' "$output" | grep -q -- "$text"; then
        printf 'dlex-sched %s: exit code %s, not %s, or without "%s":\n%s\n' "$*" "$actual" "$code" "$text" "$output"
        failed=1
    fi
}

expect 1 '^Usage: dlex-sched COMMAND'
expect 0 '^Usage: dlex-sched COMMAND' --help
expect 0 '^dlex-sched [0-9]' --version
expect 1 '^Usage: dlex-sched COMMAND' nonsense
expect 2 '^dlex-sched: pman is not installed; run ./dlex sched pman in the sources of dlex; dlex-sched-pman(1) ' pman graph.yaml
expect 2 '^dlex-sched: dwcs is not installed; run ./dlex sched dwcs in the sources of dlex; dlex-sched-dwcs(1) ' dwcs --help
expect 2 '^dlex-sched: sim is not installed; run ./dlex sched sim in the sources of dlex$' sim
expect 0 '^Usage: dlex-sched period' period --help
expect 1 '^Usage: dlex-sched period' period
expect 1 '^Usage: dlex-sched period' period --pid=1 more
expect 127 'cannot run /nowhere/player: No such file' period -- /nowhere/player
expect 1 'seconds=9 is out of range' period --pid=1 --seconds=9
expect 1 'events=all is out of range' period --pid=1 --events=all
expect 1 'unrecognized option' period --nonsense
expect 2 'cannot write /nowhere/x.svg: No such file' period --plot=/nowhere/x.svg -- true
expect 2 'cannot write /nowhere/jobs: No such file' period --record=/nowhere/jobs -- true
expect 2 'there is no such process' period --pid=1000000000
expect 0 '^Usage: dlex-sched tune' tune --help
expect 1 'a command or --pid is missing' tune
expect 1 'a command or --pid is missing' tune --quiet
expect 1 'either --pid or a command' tune --pid=1 -- true
expect 1 'limit=0 is out of range' tune --limit=0 -- true
expect 1 'limit=1000000 is out of range' tune --limit=1000000 -- true
expect 1 'rule=best is out of range' tune --rule=best -- true
expect 1 'period=0 is out of range' tune --rule=lfsg --period=0 -- true
expect 1 'period needs --rule=lfsg' tune --period=20 -- true
expect 1 'check needs reservations' tune --dry-run --check -- true
expect 1 'unrecognized option' tune --nonsense -- true
expect 2 'there is no such process' tune --dry-run --pid=1000000000
expect 2 'process 1 is the system itself' tune --dry-run --pid=1
expect 2 'cannot write /nowhere/rows: No such file' tune --record=/nowhere/rows -- true
for pid in 0 1x 1234.9 1e3 0x10 -5 +5 ' 5' 99999999999 9999999999999999999999 ''; do
    expect 1 "pid=$pid is not a process id, which is a whole number above 0" tune --pid="$pid"
    expect 1 "pid=$pid is not a process id, which is a whole number above 0" period --pid="$pid"
done
# A film that the command is likely to read is not overwritten by the record, nor one output by the other.
folder=$(mktemp -d)
echo film > "$folder/film"
ln "$folder/film" "$folder/hard"
ln -s film "$folder/symbolic"
for name in film hard symbolic; do
    is="$folder/$name is the same file as "
    expect 1 "record=$is" tune --dry-run --record="$folder/$name" -- cat "$folder/film"
    expect 1 "record=$is" tune --dry-run --record="$folder/$name" -- cat --file="$folder/film"
    expect 1 "record=$is" period --record="$folder/$name" -- cat "$folder/film"
    expect 1 "plot=$is" period --plot="$folder/$name" -- cat "$folder/film"
    expect 1 "plot=$is" period --plot="$folder/$name" --record="$folder/film" --pid=$$
done
expect 1 'is the same file as --record, and cannot hold both' period --plot="$folder/new" --record="$folder/./new" --pid=$$
[ "$(cat "$folder/film")" = film ] && [ ! -e "$folder/new" ] || { echo 'an input was overwritten, or an output was made'; failed=1; }
"$program" period --seconds=0.2 --plot="$folder/both" --pid=$$ > "$folder/both" 2>&1 && { echo 'report and plot in one file'; failed=1; }
rm -rf "$folder"
full='cannot write /dev/full: No space left on device'
expect 5 "$full" tune --dry-run --record=/dev/full -- sh -c 'exit 5'
expect 5 "$full" tune --dry-run --record=/dev/full -- sh -c 'sleep 1.5; exit 5'
sleep 1.5 &
expect 2 "$full" tune --dry-run --record=/dev/full --pid=$!
expect 127 'cannot run /nowhere/player: No such file' tune --dry-run -- /nowhere/player
expect 126 'cannot run /: Permission denied' tune --dry-run -- /
expect 5 'nothing was reserved' tune --dry-run -- sh -c 'exit 5' --quiet
expect 0 '^Usage: dlex-sched rm run' rm --help
expect 0 '^Usage: dlex-sched rm run' rm run --help
expect 1 '^Usage: dlex-sched rm run' rm
expect 1 '^Usage: dlex-sched rm run' rm list more
expect 1 'rate is missing' rm run -- true
expect 1 'a command is missing' rm run --rate=25
for rate in 0 0/1 1/0 1/ /1 -25 24000/-1001 nan inf 1e400 1001/1 25x 24000/1001/2 24000/1001x ' 25' ''; do
    expect 1 "rate=$rate is out of range" rm run --rate="$rate" -- true
done
for rate in 24000/1001 30000/1001 23.976 25; do
    expect 1 'cost=x is out of range' rm run --rate=$rate --cost=x -- true
done
expect 1 'more than the time between' rm run --rate=24000/1001 --cost=41.71 -- true
# In a new PID namespace with the /proc of the old one, each id is a stranger's.
if unshare --pid --fork true 2>/dev/null; then
    whole=$program
    program=unshare
    for command in 'period --pid=1' 'period -- true' 'tune --dry-run -- true' 'tune --pid=1 --dry-run' 'rm list' repair 'rm run --rate=25 -- true'; do
        expect 2 '/proc does not show the processes of this PID namespace' --pid --fork "$whole" $command
    done
    expect 0 '^Usage: dlex-sched period' --pid --fork "$whole" period --help
    expect 0 'rate-monotonic\|priority' --pid --fork --mount-proc "$whole" rm list
    program=$whole
else
    echo 'left out: this account may not make PID namespaces'
fi
expect 1 'cost=x is out of range' rm run --rate=25 --cost=x -- true
expect 1 'guaranteed needs --cost' rm run --rate=25 --guaranteed -- true
expect 1 'more than the time between' rm run --rate=25 --cost=41 -- true
expect 0 '^No program of this user' rm list
expect 0 '^Usage: dlex-sched repair' repair --help
expect 1 '^Usage: dlex-sched repair' repair more
"$program" repair >/dev/null 2>&1 # tests that were killed earlier may have left journals
expect 0 'nothing to repair' repair
expect 0 '^Usage: dlex-sched doctor' doctor --help
expect 1 '^Usage: dlex-sched doctor' doctor more
expect 0 '^ok  kernel ' doctor
for check in 'watching programs' 'fixed priorities' 'priority limit' reservations 'left reservations' reclaiming 'used-up budgets' \
    'budget left' 'overrun signals' 'new threads' clamping guard 'system calls' 'call filters' 'call rings' tracers 'time counters' \
    'CPU counters' 'kernel probes' 'scheduler files' 'own schedulers' BPF 'switches by BPF' descriptors 'control groups' timers tick; do
    expect 0 "^\(ok\|no\)  $check " doctor
done

# The manual names every option and every command.
for option in $({ "$program" --help; for command in tune rm period; do "$program" $command --help; done; } |
        grep -oE -- '^  --[a-z-]+|^  [a-z]+ ' | tr -d ' '); do
    sed 's/\\-/-/g' "$manual" | grep -q -- "$option" || { echo "the manual does not name $option"; failed=1; }
done

# Every line of the doctor's says whether it is well, and why not.
"$program" doctor | grep -vE '^(ok|no)  [A-Za-z -]{19}.+' && failed=1

# A shell that sleeps has too few jobs. Where watching is not allowed, the reason is one line.
sleep 5 &
sleeper=$!
output=$("$program" period --pid=$sleeper --seconds=0.5 --paper 2>&1)
case $? in
0) printf '%s\n' "$output" | grep -q '^Too few jobs' || { printf '%s\n' "$output"; failed=1; } ;;
2) [ "$(printf '%s\n' "$output" | wc -l)" = 1 ] || { printf '%s\n' "$output"; failed=1; } ;;
*) printf '%s\n' "$output"; failed=1 ;;
esac
kill $sleeper
exit $failed
