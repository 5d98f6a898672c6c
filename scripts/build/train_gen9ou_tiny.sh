#!/usr/bin/env bash
# Makes the shipped network `policy:gen9ou-tiny` again: battles of heuristic:expert and of the search on made teams, cloned.
#
#   scripts/build/train_gen9ou_tiny.sh FOLDER
#
# Needs `make training` and `make search ARGS=9`. About half an hour of battles and 20 minutes of training on two cores.
# Run it again after any end: it goes on. No team of `competitive` or `verdict`, nor one with the same six Pokémon, is in its data.
set -euo pipefail
[ $# -eq 1 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
source "$(dirname "$0")/networks.sh"

made_competitive gen9ou 2027

on=(--format gen9ou --teams variety:5000 --teams made-competitive)
play experts.duckdb "${on[@]}" heuristic:expert "heuristic:expert?reply=2.9" "heuristic:expert?tera=0.06" --battles 504 --seed 901
play searches.duckdb "${on[@]}" heuristic:expert "search:mcts?iterations=2000" "search:mcts?iterations=1900" --battles 200 --seed 902

build() { # NAME DATABASE CONDITION SHARE
    [ -e "g9/$1" ] || "$bin/train" data build --db "$2" --where "$3 AND NOT at_fault" --out "g9/$1" --hold-out "$4"
}
build expert experts.duckdb "agent LIKE 'heuristic:expert%'" 0.03
build search searches.duckdb "agent LIKE 'search:%'" 0.05
build expert2 searches.duckdb "agent LIKE 'heuristic:expert%'" 0.03
"$bin/train" base "$project/agents/policy/shipped/gen9ou-tiny/config.yaml"
