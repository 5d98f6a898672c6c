# What the scripts that make the shipped networks have in common; they read it, with their FOLDER, once they have checked their usage.
project=$(cd "$(dirname "$0")/../.." && pwd)
bin=$project/.venv/bin
mkdir -p "$1"
cd "$1"

made_competitive() { # FORMAT SEED [COUNT]: teams by the recipes of `competitive`, without those of the sets that networks are measured on
    [ ! -e made-competitive ] || return 0
    "$bin/arena" teams make competitive --format "$1" --count "${3:-600}" --seed "$2" --out made-competitive.new
    "$bin/python" "$project/scripts/build/leave_out_held_out_teams.py" made-competitive.new "$1"
    mv made-competitive.new made-competitive
}

play() { # DATABASE OPTIONS...: from the start, or on from where it was
    local db=$1
    shift
    if [ -e "$db" ]; then
        "$bin/arena" evaluate --resume --db "$db"
    else
        "$bin/arena" evaluate "$@" --no-limit --db "$db"
    fi
}
