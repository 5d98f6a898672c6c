#!/bin/sh
# The steps of the Dockerfile, in a file of their own so that tests run what an image is made by.
# Usage: sh scripts/container/steps.sh system|packages|project|check      (system: as root, in the image only)
# PYTHON: the Python to use. EXTRAS: of scripts/setup.sh. KEEP_CACHES=1: use and keep this user's download caches.
set -eu
ROOT=$(cd "$(dirname "$0")/../.." && pwd)

own_caches() {  # what is downloaded is not kept in a layer of the image
    [ -z "${KEEP_CACHES:-}" ] || return 0
    caches=$(mktemp -d)
    trap 'rm -rf "$caches"' EXIT
    export XDG_CACHE_HOME="$caches" npm_config_cache="$caches/npm"
}

system() {  # Python, Node.js and npm from the distribution; the user; the folders that are the user's
    dnf module enable --assumeyes nodejs:20
    dnf install --assumeyes --setopt=install_weak_deps=False python3.11 nodejs npm
    dnf clean all
    useradd --uid 1000 --create-home trainer
    mkdir -p "$ROOT" /training
    chown -R trainer:trainer "$ROOT" /training
}

packages() {  # .venv and node_modules, from pinned versions; without our code
    own_caches
    cd "$ROOT"
    # shellcheck disable=SC2086  # several words
    PYTHON=${PYTHON:-python3.11} sh scripts/setup.sh ${EXTRAS-training}
}

project() {  # our code, which is installed where it lies
    own_caches
    cd "$ROOT"
    .venv/bin/uv pip install --quiet --python .venv/bin/python --no-deps --reinstall-package battle-arena -e .
}

check() {  # a battle is played and `train` starts, or there is no image
    own_caches
    cd /tmp
    "$ROOT/.venv/bin/arena" doctor
    "$ROOT/.venv/bin/train" --help >/dev/null
}

case "${1:-}" in
    system | packages | project | check) "$1" ;;
    *) echo "steps.sh: '${1:-}' is no step: system, packages, project or check" >&2; exit 2 ;;
esac
