#!/usr/bin/env bash
# Makes the shipped network `policy:gen1ou-tiny` again: battles of the search and of heuristic:expert on made teams, cloned; then
# on with what the search would have done in the network's own battles, and in those of a curriculum.
#
#   scripts/build/train_gen1ou_tiny.sh FOLDER
#
# Needs `make training` and `make search ARGS=1`. About three hours of battles and an hour of training on two cores.
# Run it again after any end: it goes on. The `competitive` teams are in none of its data; what it is worth is measured on them.
# Among the opponents of the search (whose sides are not learned) is the network that is shipped: then, the one before.
set -euo pipefail
[ $# -eq 1 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
source "$(dirname "$0")/networks.sh"
shipped=$project/agents/policy/shipped/gen1ou-tiny

on=(--format gen1ou --teams variety)
play searches.duckdb "${on[@]}" "search:mcts?iterations=2000&samples=2" "search:mcts?iterations=2400&samples=2" --battles 400 --seed 101
play mixed.duckdb "${on[@]}" "search:mcts?iterations=4000&samples=2" "search:mcts?iterations=4000&samples=2&good=1" \
    heuristic:expert heuristic:staller --battles 300 --seed 106
play experts.duckdb "${on[@]}" heuristic:expert "heuristic:expert?reply=2.5" heuristic:staller heuristic:emerald heuristic:max-damage \
    --challenger heuristic:expert --challenger "heuristic:expert?reply=2.5" --battles 300 --seed 107
play more.duckdb "${on[@]}" "search:mcts?iterations=4000&samples=2" "search:mcts?iterations=4400&samples=2" heuristic:expert \
    "policy:gen1ou-tiny?temperature=0.5" poke-env:SimpleHeuristicsPlayer --battles 366 --seed 301 \
    --challenger "search:mcts?iterations=4000&samples=2" --challenger "search:mcts?iterations=4400&samples=2"

build() { # NAME DATABASE CONDITION
    [ -e "$1" ] || "$bin/train" data build --db "$2" --where "$3" --out "$1" --hold-out 0.03
}
build s1 searches.duckdb "agent LIKE 'search%'"
build s2 mixed.duckdb "agent LIKE 'search%'"
build e1 experts.duckdb "agent LIKE 'heuristic:expert%'"
build e2 mixed.duckdb "agent = 'heuristic:expert'"
build s3 more.duckdb "agent LIKE 'search%'"
build e3 more.duckdb "agent = 'heuristic:expert'"
"$bin/train" base "$shipped/first.yaml"

watched="coached?learner=policy:first@best?temperature=0.5&coach=search:mcts?iterations=4000%26samples=2"
play watched.duckdb "${on[@]}" "$watched" heuristic:expert "search:mcts?iterations=4000&samples=2" heuristic:staller \
    --challenger "$watched" --battles 240 --seed 401
"$bin/train" curriculum run gen1ou-cpu
curriculum=runs/gen1ou-cpu/arena.duckdb
build d1 watched.duckdb "agent LIKE 'coached%' OR agent LIKE 'search%'"
build d2 "$curriculum" "agent LIKE 'coached?coach=search%'"
build d3 "$curriculum" "agent LIKE 'coached?coach=heuristic%'"
"$bin/train" base "$shipped/config.yaml"
