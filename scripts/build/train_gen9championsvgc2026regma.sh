#!/usr/bin/env bash
# Makes the shipped network `policy:gen9championsvgc2026regma` again: battles of doubles of heuristic:expert with itself and with two
# others, cloned; then PPO on Showdown.
#
#   scripts/build/train_gen9championsvgc2026regma.sh FOLDER TEAMS
#
# TEAMS: a folder of teams for training (docs/teams.md); those of the shipped network were 100 of people's, which the project does not
# have (vgc-bench's). Needs `make training`. An hour of battles, 20 minutes of cloning and 40 minutes of PPO on one core. Run it again
# after any end: it goes on.
set -euo pipefail
[ $# -eq 2 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
teams=$(realpath "$2")
source "$(dirname "$0")/networks.sh"

on=(--format gen9championsvgc2026regma --teams "$teams")
play mirror.duckdb "${on[@]}" heuristic:expert "heuristic:expert?preview=random" --battles 2204 --seed 9301
play mirror-1.duckdb "${on[@]}" heuristic:expert "heuristic:expert?preview=matchup" --battles 2586 --seed 9411
play mirror-2.duckdb "${on[@]}" heuristic:expert "heuristic:expert?preview=matchup" --battles 2665 --seed 9412
play others.duckdb "${on[@]}" heuristic:expert poke-env:SimpleHeuristicsPlayer heuristic:max-damage --challenger heuristic:expert --battles 130 --seed 9302
for name in mirror mirror-1 mirror-2 others; do
    [ -e "doubles/$name" ] ||
        "$bin/train" data build --db "$name.duckdb" --where "agent LIKE 'heuristic:expert%' AND NOT at_fault" --out "doubles/$name" --hold-out 0.02
done
shipped=$project/agents/policy/shipped/gen9championsvgc2026regma
"$bin/train" base "$shipped/cloned.yaml"
[ -e teams ] || ln -s "$teams" teams
"$bin/train" online "$shipped/config.yaml"
echo "policy:$1/doubles-played@last"
