"""Checkpoints on a model hub, by huggingface_hub: `hf://ORG/NAME[@REV]`, a repository that `train push` has made.

HF_ENDPOINT, HF_TOKEN, HF_HOME and HF_HUB_OFFLINE mean what they mean to that library: what its cache has is not fetched
again, and is used without the network. Only weights, metadata and texts are fetched, no code.
"""

from __future__ import annotations

import functools
import importlib.util
import re
from pathlib import Path

from teamsets.errors import BadInput

PREFIX = "hf://"
#: Files that a repository of a checkpoint may have; others are not fetched.
FILES = ("*.json", "*.safetensors", "*.yaml", "*.md", "LICENSE")
#: The pattern of a repository's name, ORG/NAME.
REPOSITORY = r"[\w.-]+/[\w.-]+"
_NAME = re.compile(rf"{PREFIX}(?P<repository>{REPOSITORY})(?:@(?P<revision>[\w./-]+))?")
INSTALL = (
    "huggingface_hub is not installed: pip install 'battle-arena[hub]' (in a clone: .venv/bin/uv pip install -c "
    "constraints.txt -e '.[hub]')"
)


def is_installed() -> bool:
    """Return whether huggingface_hub is there."""
    return importlib.util.find_spec("huggingface_hub") is not None


def is_on_hub(spec: str) -> bool:
    """Return whether a checkpoint is named by its repository on a hub."""
    return spec.startswith(PREFIX)


@functools.cache
def fetch(spec: str) -> Path:
    """Return the folder of a checkpoint in huggingface_hub's cache, and put it there first if it is not. Raises BadInput.

    A branch is looked up on the hub once in a process, so that an agent is one commit in it; the cached one is used where
    the hub cannot be reached.
    """
    named = _NAME.fullmatch(spec)
    if named is None:
        raise BadInput(
            f"checkpoint '{spec}': write it as hf://ORG/NAME, or hf://ORG/NAME@REV (a branch, a tag or a commit)"
        )
    if not is_installed():
        raise BadInput(f"checkpoint '{spec}': {INSTALL}")
    import httpx
    from huggingface_hub import errors, snapshot_download

    try:
        return Path(
            snapshot_download(
                named["repository"], revision=named["revision"], allow_patterns=list(FILES), max_workers=2
            )
        )
    except errors.RevisionNotFoundError:
        problem = f"the repository has no revision {named['revision']}: name a branch, a tag or a commit of it"
    except errors.GatedRepoError:
        problem = "the repository is gated: ask for access on its page, and set HF_TOKEN"
    except errors.RepositoryNotFoundError:
        problem = "there is no such repository, or it is private: see to its name, or set HF_TOKEN"
    except (errors.LocalEntryNotFoundError, errors.OfflineModeIsEnabled):
        problem = "the hub cannot be reached, and it is not in the cache (HF_HOME): fetch it once with a connection"
    except (errors.HfHubHTTPError, errors.HFValidationError, httpx.HTTPError, OSError) as error:
        problem = f"{' '.join(str(error).split())[:200]}: see to the connection, HF_ENDPOINT and HF_TOKEN"
    raise BadInput(f"checkpoint '{spec}': {problem}")
