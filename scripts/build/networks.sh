# What the scripts that make the shipped networks have in common; they read it, with their FOLDER, once they have checked their usage.
project=$(cd "$(dirname "$0")/../.." && pwd)
bin=$project/.venv/bin
mkdir -p "$1"
cd "$1"

made_competitive() { # FORMAT SEED [COUNT [SET]]: teams by the recipes of `competitive`, without those of the sets that networks are measured on
    local set=${4:-made-competitive}
    [ ! -e "$set" ] || return 0
    "$bin/arena" teams make competitive --format "$1" --count "${3:-600}" --seed "$2" --out "$set.new"
    "$bin/python" "$project/scripts/build/leave_out_held_out_teams.py" "$set.new" "$1"
    mv "$set.new" "$set"
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
