#!/bin/sh
# Trains in a container: builds the image, runs `train`, and leaves what it made in OUT, also if it failed or was stopped.
# Usage: scripts/train_in_docker.sh CONFIG DATA OUT [COMMAND ...]
#   CONFIG   configuration of the run (train config PRESET > CONFIG)
#   DATA     folder that the run reads as data/; it is not written to
#   OUT      folder in which the run works: relative paths in CONFIG (out: runs/dpo) are below it. The same OUT resumes
#   COMMAND  base (if none is given; DPO, too), online, "curriculum run" as two words, with options
# GPUS=all, none or device=0 (otherwise: all where nvidia-smi lists one). IMAGE, BASE, TORCH_INDEX: of the image (docs/container.md).
# Exit code: that of `train`; 130 after Ctrl-C; 2 for bad input.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

fail() { printf 'train_in_docker: %s\n' "$1" >&2; exit 2; }
absolute() { printf '%s/%s' "$(cd "$(dirname "$1")" && pwd)" "$(basename "$1")"; }

[ $# -ge 3 ] || fail "CONFIG, DATA and OUT are needed: scripts/train_in_docker.sh dpo.yaml data runs/in-docker"
[ -f "$1" ] || fail "CONFIG $1: is not a file: write one with 'train config PRESET > $1'"
[ -d "$2" ] || fail "DATA $2: is not a folder: name the one that CONFIG calls data/ (an empty one if it reads none)"
[ ! -e "$3" ] || [ -d "$3" ] || fail "OUT $3: is a file: name a folder"
mkdir -p "$3" || fail "OUT $3: cannot be made: name another folder"
[ -w "$3" ] || fail "OUT $3: cannot be written to: name another folder"
config=$(absolute "$1") data=$(cd "$2" && pwd) out=$(cd "$3" && pwd)
case "$config$data$out" in *,*) fail "a path has a comma, which Docker's --mount does not take: rename it" ;; esac
shift 3
[ $# -gt 0 ] || set -- base

gpus=${GPUS:-}
if [ -z "$gpus" ]; then
    gpus=none
    case "$(nvidia-smi -L 2>/dev/null || true)" in GPU*) gpus=all ;; esac
fi
# What is written belongs to whoever runs this. In the container nobody is root: root's files are those of the image's user.
user="$(id -u):$(id -g)"
if [ "$(id -u)" = 0 ]; then
    user=1000:1000
    chown "$user" "$out"
fi

name="battle-arena-train-$$-$(date +%s)"
image=${IMAGE:-battle-arena}
made_data=""

# shellcheck disable=SC2329  # called by a trap, as is stop
clean_up() {
    trap '' INT TERM HUP
    if docker logs "$name" >"$out/container.log.new" 2>&1; then
        mv "$out/container.log.new" "$out/container.log"
    else  # there was no container: the log of an earlier one stays
        rm -f "$out/container.log.new"
    fi
    docker rm --force --volumes "$name" >/dev/null 2>&1 || true
    # Former builds of our image, which lost their name to this one.
    docker image prune --force --filter label=battle-arena=image >/dev/null 2>&1 || true
    [ -z "$made_data" ] || rmdir "$out/data" 2>/dev/null || true
}
# shellcheck disable=SC2329
stop() {  # Ctrl-C, or the end of the session: the run may end its step
    trap '' INT TERM HUP
    echo "train_in_docker: stopping; what was made is in $out" >&2
    docker stop -t 60 "$name" >/dev/null 2>&1 || true
    exit "$1"
}
trap clean_up EXIT
trap 'stop 130' INT
trap 'stop 143' TERM
trap 'stop 129' HUP

IMAGE="$image" sh "$here/container/build.sh"
[ -d "$out/data" ] || { mkdir "$out/data"; made_data=yes; }
set -- "$@" "/config/$(basename "$config")"
set -- "$image" "$@"
[ "$gpus" = none ] || set -- --gpus "$gpus" "$@"
[ -z "${WANDB_API_KEY:-}" ] || set -- --env WANDB_API_KEY "$@"
docker create --name "$name" --init --user "$user" --shm-size 4g --workdir /training \
    --mount "type=bind,src=$config,dst=/config/$(basename "$config"),readonly" \
    --mount "type=bind,src=$out,dst=/training" \
    --mount "type=bind,src=$data,dst=/training/data,readonly" "$@" >/dev/null
# In the background: a signal is handled at once, not when the run is over.
docker start --attach --sig-proxy=false "$name" &
code=0
wait $! || code=$?
[ "$code" = 0 ] || echo "train_in_docker: train ended with $code; what it made is in $out" >&2
exit "$code"
