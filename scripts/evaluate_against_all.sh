#!/usr/bin/env bash
# One checkpoint against everybody: its battles, the ranking with intervals, and a report as one HTML file.
#
#   scripts/evaluate_against_all.sh CHECKPOINT [OPTIONS OF arena evaluate]
#
# CHECKPOINT: a run's folder, runs/tiny@best, a checkpoint's own folder, or any agent spec (mybot:MyAgent). The pool is
# arena.toml's. What its agents play among themselves is taken from the database, as far as it is there; --battles (20 for
# each opponent and team set) and the like go to `arena evaluate`. With REPORT=path.html the report goes there.
set -euo pipefail
if [ $# -eq 0 ]; then
    sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
    exit 2
fi
challenger=$1
shift
if [ -e "${challenger%@*}" ]; then
    challenger="policy:$challenger"
fi
project=$(cd "$(dirname "$0")/.." && pwd)
arena=$(command -v arena || true)
arena=${arena:-$project/.venv/bin/arena}
if [ ! -x "$arena" ]; then
    echo "evaluate_against_all: no arena command: run \`make setup\` in $project first" >&2
    exit 2
fi
db=arena.duckdb
budget=(--battles 20)
previous=
for word in "$@"; do
    case $previous in --db) db=$word ;; esac
    case $word in
    --db=*) db=${word#--db=} ;;
    --battles* | --budget* | --minutes*) budget=() ;;
    esac
    previous=$word
done
report=${REPORT:-report-$(printf %s "$challenger" | tr -c 'A-Za-z0-9.-' '_' | tail -c 60).html}
"$arena" evaluate --all --challenger "$challenger" ${budget[@]+"${budget[@]}"} "$@"
"$arena" report --db "$db" --html "$report"
