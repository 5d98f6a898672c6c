#!/bin/sh
# Builds the image for training (docs/container.md). Usage: [IMAGE=battle-arena] [BASE=IMAGE] [TORCH_INDEX=URL] scripts/container/build.sh
set -eu
cd "$(dirname "$0")/../.."

fail() { printf 'docker: %s\n' "$1" >&2; exit 2; }

command -v docker >/dev/null 2>&1 || fail "'docker' was not found: install Docker, or train without it (make training)"
docker info >/dev/null 2>&1 || fail "no Docker engine answers: start it, or give this user access to it ('docker info' says what is wrong)"
case "${TORCH_INDEX:-}" in
    *@*) fail "TORCH_INDEX has a user or a password, which would stay in the image's history: name an index that needs none" ;;
    file:*) fail "TORCH_INDEX=$TORCH_INDEX: a folder of this machine is not in the image: name a URL" ;;
esac
commit=$(git rev-parse HEAD 2>/dev/null || true)
[ -z "$commit" ] || [ -z "$(git status --porcelain --untracked-files=no 2>/dev/null)" ] || commit="$commit+"
exec docker build --tag "${IMAGE:-battle-arena}" ${BASE:+--build-arg "BASE=$BASE"} \
    --build-arg "TORCH_INDEX=${TORCH_INDEX:-}" --build-arg "COMMIT=$commit" .
