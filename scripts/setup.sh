#!/bin/sh
# Sets up .venv and node_modules from pinned versions. Says in one line what is missing, does nothing the second time.
# Usage: scripts/setup.sh [dev] [training]
set -eu
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-python3}

fail() { printf 'setup: %s\n' "$1" >&2; exit 2; }

command -v "$PYTHON" >/dev/null 2>&1 || fail "Python 3.11 or newer is needed and '$PYTHON' was not found: install python3 (Debian: apt-get install python3 python3-venv), or say PYTHON=/path/to/python3.11"
"$PYTHON" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || fail "Python 3.11 or newer is needed and '$PYTHON' is $("$PYTHON" -V 2>&1): install a newer one, or say PYTHON=/path/to/python3.11"
command -v node >/dev/null 2>&1 || fail "Node 20 or newer is needed and 'node' was not found: install Node.js 20 (nodejs.org, or your system's package nodejs)"
node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)' || fail "Node 20 or newer is needed and 'node' is $(node -v): install Node.js 20 (nodejs.org, or your system's package nodejs)"
command -v npm >/dev/null 2>&1 || fail "npm was not found beside node: install it (Debian: apt-get install npm)"

# What set-up depends on, as one line; when it has not changed since the last time there is nothing to do.
fingerprint=$(cat pyproject.toml constraints.txt package-lock.json scripts/setup.sh | cksum | tr -d '\n')
wanted="$fingerprint"
extras=""
for extra in dev training; do
    case " $* $(cat .venv/.extras 2>/dev/null || true) " in *" $extra "*) extras="$extras,$extra"; wanted="$wanted $extra" ;; esac
done
extras=${extras#,}

if [ "$(cat .venv/.ready 2>/dev/null || true)" = "$wanted" ] && [ -d node_modules/pokemon-showdown ]; then
    exit 0
fi

echo "setup: installing (once; some seconds) ..."
if [ ! -x .venv/bin/python ] || ! .venv/bin/python -c 'import pip' 2>/dev/null; then
    "$PYTHON" -m venv --clear .venv || fail "'$PYTHON -m venv .venv' failed: the venv module is missing (Debian: apt-get install python3-venv)"
fi
rm -f .venv/.ready
[ -x .venv/bin/uv ] || .venv/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt uv
.venv/bin/uv pip install --quiet --python .venv/bin/python -c constraints.txt -e ".${extras:+[$extras]}"
npm ci --omit=optional --silent --no-audit --no-fund 2>/dev/null || npm ci --omit=optional --no-audit --no-fund || fail "npm ci failed (its words are above)"
printf '%s' "$(echo "$extras" | tr , ' ')" > .venv/.extras
printf '%s' "$wanted" > .venv/.ready
echo "setup: ready"
