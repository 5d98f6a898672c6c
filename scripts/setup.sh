#!/bin/sh
# Sets up .venv and node_modules from pinned versions. Says in one line what is missing, does nothing the second time.
# Usage: [TORCH_INDEX=URL] scripts/setup.sh [dev] [training] [llm] [ray] [dashboard] [docs]
# TORCH_INDEX: the package index from which torch alone is taken, e.g. PyTorch's CPU index. It is remembered in .venv.
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
for extra in dev training llm ray dashboard docs; do
    case " $* $(cat .venv/.extras 2>/dev/null || true) " in *" $extra "*) extras="$extras,$extra"; wanted="$wanted $extra" ;; esac
done
extras=${extras#,}
# What an example of docs/environments.md needs: small, and only of use beside torch.
case ",$extras," in *,training,*) libraries="$extras,envs-examples" ;; *) libraries="$extras" ;; esac
torch_before=$(cat .venv/.torch-index 2>/dev/null || true)
torch_index=${TORCH_INDEX:-$torch_before}
case ",$extras," in *,training,*) wanted="$wanted${torch_index:+ torch from $torch_index}" ;; *) torch_index="" ;; esac

if [ "$(cat .venv/.ready 2>/dev/null || true)" = "$wanted" ] && [ -d node_modules/pokemon-showdown ]; then
    exit 0
fi

echo "setup: installing (once; some seconds) ..."
if [ ! -x .venv/bin/python ] || ! .venv/bin/python -c 'import pip' 2>/dev/null; then
    "$PYTHON" -m venv --clear .venv || fail "'$PYTHON -m venv .venv' failed: the venv module is missing (Debian: apt-get install python3-venv)"
fi
rm -f .venv/.ready
[ -x .venv/bin/uv ] || .venv/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt uv
case ",$extras," in *,training,*)
    # The sizes are those of torch 2.13.0 for Linux on x86-64 (docs/install.md says how they were measured).
    if [ -n "$torch_index" ]; then
        echo "setup: training needs torch, which is taken from $torch_index (TORCH_INDEX), and 200 MB of other packages"
        again=""
        [ "$torch_index" = "$torch_before" ] || again="--reinstall-package torch"
        .venv/bin/uv pip install --quiet --python .venv/bin/python -c constraints.txt --no-deps --default-index "$torch_index" $again torch ||
            fail "torch could not be installed from TORCH_INDEX=$torch_index (uv's message is above): give the URL of a package index that has the torch of constraints.txt"
        printf '%s' "$torch_index" > .venv/.torch-index
    elif ! .venv/bin/python -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec("torch") is None)'; then
        echo "setup: training needs torch: with CUDA, as PyPI has it, 2.8 GB to download and 4.6 GB on disk (3.5 GB of it is CUDA)"
        command -v nvidia-smi >/dev/null 2>&1 || echo "setup: there is no NVIDIA GPU here. TORCH_INDEX=URL make training takes a smaller build, from PyTorch's CPU index (docs/install.md); Ctrl-C stops this one"
    fi ;;
esac
.venv/bin/uv pip install --quiet --python .venv/bin/python -c constraints.txt -e ".${libraries:+[$libraries]}"
# What only the tests of damage compare with (@smogon/calc) is for developers.
case ",$extras," in *,dev,*) omitted="--omit=optional" ;; *) omitted="--omit=optional --omit=dev" ;; esac
# npm ci deletes node_modules first, which would end a run that is using it: only when something else is wanted.
modules="$(cat package-lock.json | cksum | tr -d '\n') $omitted"
if [ "$(cat node_modules/.arena-lock 2>/dev/null || true)" != "$modules" ] || [ ! -d node_modules/pokemon-showdown ]; then
    # shellcheck disable=SC2086 # two options, not one
    npm ci $omitted --loglevel=error --no-audit --no-fund >/dev/null || fail "npm ci failed (npm's error is above): fix the problem, then run the same command again"
    printf '%s' "$modules" > node_modules/.arena-lock
fi
printf '%s' "$(echo "$extras" | tr , ' ')" > .venv/.extras
printf '%s' "$wanted" > .venv/.ready
echo "setup: ready"
