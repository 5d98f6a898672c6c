#!/usr/bin/env bash
# Makes the shipped network `policy:gen1ou` again: online training (PPO) from `gen1ou-tiny`, by self-play, past selves and rule players.
#
#   scripts/build/train_gen1ou.sh FOLDER
#
# Needs `make training`. Some two hours on one core that has nothing else to do. Run it again after any end: it goes on.
# Teams: half `variety`, half made by the recipes of `competitive` with another seed, without those that have the same six Pokémon
# as a team of `competitive` or `verdict`. The figures of its page are measured on these two sets.
set -euo pipefail
[ $# -eq 1 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
source "$(dirname "$0")/networks.sh"
shipped=$project/agents/policy/shipped/gen1ou

made_competitive gen1ou 2026
# The first run's schedules were made for more iterations than it was given.
"$bin/train" online "$shipped/first.yaml" --set iterations=320
"$bin/train" online "$shipped/config.yaml"
echo "policy:$1/gen1b@last"
