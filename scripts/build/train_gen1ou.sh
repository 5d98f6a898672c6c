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
project=$(cd "$(dirname "$0")/../.." && pwd)
bin=$project/.venv/bin
shipped=$project/agents/policy/shipped/gen1ou
mkdir -p "$1"
cd "$1"

if [ ! -e made-competitive ]; then
    "$bin/arena" teams make competitive --format gen1ou --count 600 --seed 2026 --out made-competitive.new
    "$bin/python" "$project/scripts/build/leave_out_held_out_teams.py" made-competitive.new gen1ou
    mv made-competitive.new made-competitive
fi
# The first run's schedules were made for more iterations than it was given.
"$bin/train" online "$shipped/first.yaml" --set iterations=320
"$bin/train" online "$shipped/config.yaml"
echo "policy:$1/gen1b@last"
