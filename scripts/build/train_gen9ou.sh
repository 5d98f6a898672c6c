#!/usr/bin/env bash
# Makes the shipped network `policy:gen9ou` again: the curriculum `gen9ou-cpu`, then expert iteration on the generation-9 engine, twice,
# then PPO there, twice.
#
#   scripts/build/train_gen9ou.sh FOLDER
#
# Needs `make training` and a C++ compiler. Some 40 minutes on two cores, then five hours on one. Run it again after any end: it goes
# on. Teams of the expert iterations: made by the recipes of `competitive` with other seeds, without those that have the same six
# Pokémon as a team of `competitive` or `verdict`, and without those that the engine does not play.
set -euo pipefail
[ $# -eq 1 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
source "$(dirname "$0")/networks.sh"

made_competitive gen9ou 2811 1000
"$bin/train" curriculum run gen9ou-cpu
"$bin/train" online "$project/agents/policy/shipped/gen9ou/searched.yaml"
made_competitive gen9ou 2911 2400 made-competitive-again
"$bin/train" online "$project/agents/policy/shipped/gen9ou/searched-again.yaml"
"$bin/train" online "$project/agents/policy/shipped/gen9ou/played.yaml"
"$bin/train" online "$project/agents/policy/shipped/gen9ou/config.yaml"
echo "policy:$1/gen9-played-on@last"
