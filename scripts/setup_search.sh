#!/bin/sh
# Builds poke-engine for the search agent, once for each generation: each build in a folder of its own, side by side.
# Usage: scripts/setup_search.sh [GENERATION...]   (all that it serves: 1 2 3 4 9)
# Needs cargo and what `make setup` made. Does nothing for a build that is there. ARENA_POKE_ENGINE names another folder.
set -eu
cd "$(dirname "$0")/.."
VERSION=0.0.48
SHA256=070010686f2aedff11e25137e696e301ccd80fd57c805d255464067fc905ca12
MATURIN=1.16.0
BUILDS=${ARENA_POKE_ENGINE:-.cache/poke-engine}
[ $# -gt 0 ] || set -- 1 2 3 4 9

fail() { printf 'setup-search: %s\n' "$1" >&2; exit 2; }

for gen in "$@"; do
    case $gen in [1-9]) ;; *) fail "'$gen' is no generation: say numbers from 1 to 9" ;; esac
done
[ -x .venv/bin/uv ] || fail ".venv is not set up: run 'make setup' first"
# What agents/search asks of a build; the same number stands in agents/search/poke_engine/builds.py.
INTERFACE=2
# A build is known by what made it: the version, this script, and the Python that loads it.
wanted="$INTERFACE $VERSION $(cat scripts/setup_search.sh scripts/poke_engine/*.rs | cksum | tr -d '\n') $(.venv/bin/python -V)"
missing=""
for gen in "$@"; do
    [ "$(cat "$BUILDS/gen$gen/.ready" 2>/dev/null || true)" = "$wanted" ] || missing="$missing $gen"
done
[ -n "$missing" ] || exit 0
command -v cargo >/dev/null 2>&1 || fail "cargo was not found, and poke-engine is built from Rust: install Rust (rustup.rs; Debian: apt-get install cargo), or do without search:mcts, which then is listed as not available"

mkdir -p "$BUILDS"
BUILDS=$(cd "$BUILDS" && pwd)
work=$(mktemp -d "$BUILDS/.work-XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM

echo "setup-search: fetching poke-engine $VERSION ..."
printf 'poke-engine==%s --hash=sha256:%s\n' "$VERSION" "$SHA256" > "$work/wanted.txt"
printf 'maturin==%s\n' "$MATURIN" > "$work/tools.txt"
PIP_CONSTRAINT="$work/tools.txt" .venv/bin/python -m pip download --quiet --disable-pip-version-check --no-deps \
    --no-binary poke-engine --require-hashes -r "$work/wanted.txt" -d "$work" || fail "poke-engine could not be fetched (pip's words are above)"
tar -xzf "$work/poke_engine-$VERSION.tar.gz" -C "$work"
source="$work/poke_engine-$VERSION"

# poke-engine's model of the game stays as it is. Beside its own search come ours: a tree search (tree.rs), fitted values and
# priors (fitted.rs), and what Python calls of them (python.rs).
cp scripts/poke_engine/tree.rs scripts/poke_engine/fitted.rs "$source/src/"
cat scripts/poke_engine/python.rs >> "$source/poke-engine-py/src/lib.rs"
added=""
for function in tree_search features_of_value features_of_choices; do
    added="$added    m.add_function(wrap_pyfunction!($function, m)?)?;\\n"
done
sed -i.orig "s/^    m.add_function(wrap_pyfunction!(mcts, m)?)?;/$added&/" "$source/poke-engine-py/src/lib.rs"
sed -i.orig 's/^pub mod io;/pub mod fitted;\npub mod io;\npub mod tree;/' "$source/src/lib.rs"
for engine in "$source"/src/gen?; do
    sed -i.orig 's/^fn get_effective_speed/pub fn get_effective_speed/' "$engine/generate_instructions.rs"
done
grep -q "pub mod tree;" "$source/src/lib.rs" && grep -q "tree_search, m" "$source/poke-engine-py/src/lib.rs" ||
    fail "poke-engine's sources are not as expected: no place for the arena's search"

export CARGO_TARGET_DIR="$work/target" CARGO_PROFILE_RELEASE_DEBUG=0 CARGO_PROFILE_RELEASE_LTO=fat CARGO_PROFILE_RELEASE_CODEGEN_UNITS=1
for gen in $missing; do
    feature=gen$gen
    [ "$gen" = 9 ] && feature=terastallization
    echo "setup-search: building for generation $gen (some minutes) ..."
    rm -rf "$BUILDS/gen$gen"
    .venv/bin/uv pip install --quiet --python .venv/bin/python --target "$work/gen$gen" --no-deps \
        --refresh-package poke-engine --reinstall-package poke-engine --build-constraints "$work/tools.txt" \
        --config-setting "build-args=--locked --features poke-engine/$feature --no-default-features" "$source" \
        || fail "poke-engine could not be built for generation $gen (cargo's words are above)"
    printf '%s' "$wanted" > "$work/gen$gen/.ready"
    mv "$work/gen$gen" "$BUILDS/gen$gen"
done
echo "setup-search: ready"
