#!/usr/bin/env bash
# One run of `train online` beside all other work, for days: one thread, at the lowest priority, resumed by the same command
# after anything. It stands still while tests run in this checkout, while benches run anywhere on the machine, and while
# runs/background/pause is there.
#
#     scripts/background_training.sh start     begin or resume, in the background
#     scripts/background_training.sh status    how far it is
#     scripts/background_training.sh stop      end it; start goes on from the last checkpoint
#
# The run is scripts/background_training.yaml in runs/background/run; checkpoints stay out of the repository.
set -euo pipefail
cd "$(dirname "$0")/.."
out=runs/background
config=scripts/background_training.yaml

# Not by kill -0, which also finds a process that has ended and that nobody has waited for, as in containers without an init.
running() {
    [ -s $out/pid ] || return 1
    case $(ps -o stat= -p "$(cat $out/pid)" 2>/dev/null) in '' | Z*) return 1 ;; esac
}
busy() {
    local pid
    [ -e $out/pause ] || pgrep -f 'scripts/[b]ench/|scripts/[g]pu/' >/dev/null && return
    for pid in $(pgrep -f '[p]ytest'); do
        [ "$(readlink "/proc/$pid/cwd")" = "$PWD" ] && return
    done
    return 1
}

# Runs in the background: the training, stopped and continued, and begun again where it has crashed.
supervise() {
    # A session of its own is scheduled as one: without this its low priority would count only within it.
    { echo 19 >/proc/self/autogroup; } 2>/dev/null || true
    local crashes=0 child state=runs
    while [ $crashes -lt 5 ]; do
        OMP_NUM_THREADS=1 nice -n 19 .venv/bin/train online $config >>$out/log 2>&1 &
        child=$!
        trap 'kill -CONT $child 2>/dev/null; kill $child 2>/dev/null; wait $child 2>/dev/null; exit 0' TERM INT
        while kill -0 $child 2>/dev/null; do
            if busy; then
                [ $state = stands ] || kill -STOP $child 2>/dev/null || true
                state=stands
            elif [ $state = stands ]; then
                kill -CONT $child 2>/dev/null || true
                state=runs
            fi
            sleep 2 &
            wait $! || true
        done
        if wait $child; then
            echo "background training: finished" >>$out/log
            return
        fi
        crashes=$((crashes + 1))
        sleep 30
    done
    echo "background training: given up after $crashes crashes" >>$out/log
}

case "${1:-}" in
    start)
        [ -x .venv/bin/train ] || { echo "background training: run \`make training\` first" >&2; exit 2; }
        running && { echo "background training: runs already (process $(cat $out/pid))"; exit 0; }
        mkdir -p $out
        setsid "$0" supervise >/dev/null 2>&1 </dev/null &
        echo $! >$out/pid
        echo "background training: started (process $!); log: $out/log"
        ;;
    supervise) supervise ;;
    stop)
        running || { echo "background training: does not run"; exit 0; }
        kill "$(cat $out/pid)"
        while running; do sleep 1; done
        echo "background training: stopped"
        ;;
    status)
        if ! running; then echo "does not run"; elif busy; then echo "stands still"; else echo "runs"; fi
        if [ -s $out/run/metrics.jsonl ]; then
            tail -n 1 $out/run/metrics.jsonl | .venv/bin/python -c '
import json, sys
last = json.loads(sys.stdin.readline())
step, millions, hours = last["step"], last["total_decisions"] / 1e6, last["total_seconds"] / 3600
print(f"iteration {step:,}, {millions:,.2f} million decisions, {hours:,.1f} hours of playing and learning")'
        fi
        if [ -s $out/log ]; then tail -n 2 $out/log; fi
        ;;
    *)
        echo "usage: scripts/background_training.sh start | status | stop" >&2
        exit 2
        ;;
esac
