#!/usr/bin/env bash
# Makes the shipped network `policy:gen9ou-tiny` again: battles of heuristic:expert and of the search on made teams, cloned.
#
#   scripts/build/train_gen9ou_tiny.sh FOLDER
#
# Needs `make training` and `make search ARGS=9`. About half an hour of battles and 20 minutes of training on two cores.
# Run it again after any end: it goes on. No team of `competitive` or `verdict`, nor one with the same six Pokémon, is in its data.
set -euo pipefail
[ $# -eq 1 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
project=$(cd "$(dirname "$0")/../.." && pwd)
bin=$project/.venv/bin
mkdir -p "$1"
cd "$1"

if [ ! -e made-competitive ]; then
    "$bin/arena" teams make competitive --format gen9ou --count 600 --seed 2027 --out made-competitive.new
    "$bin/python" "$project/scripts/build/leave_out_held_out_teams.py" made-competitive.new gen9ou
    mv made-competitive.new made-competitive
fi

play() { # DATABASE OPTIONS...: from the start, or on from where it was
    local db=$1
    shift
    if [ -e "$db" ]; then
        "$bin/arena" evaluate --resume --db "$db"
    else
        "$bin/arena" evaluate "$@" --format gen9ou --teams variety:5000 --teams made-competitive --no-limit --db "$db"
    fi
}
play experts.duckdb heuristic:expert "heuristic:expert?reply=2.9" "heuristic:expert?tera=0.06" --battles 504 --seed 901
play searches.duckdb heuristic:expert "search:mcts?iterations=2000" "search:mcts?iterations=1900" --battles 200 --seed 902

build() { # NAME DATABASE CONDITION SHARE
    [ -e "g9/$1" ] || "$bin/train" data build --db "$2" --where "$3 AND NOT at_fault" --out "g9/$1" --hold-out "$4"
}
build expert experts.duckdb "agent LIKE 'heuristic:expert%'" 0.03
build search searches.duckdb "agent LIKE 'search:%'" 0.05
build expert2 searches.duckdb "agent LIKE 'heuristic:expert%'" 0.03
"$bin/train" base "$project/agents/policy/shipped/gen9ou-tiny/config.yaml"
