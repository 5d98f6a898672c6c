"""A run's checkpoint as a repository on a model hub, in the layout that `policy:hf://ORG/NAME` reads."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from shutil import copyfile
from typing import Any

from agents.policy import checkpoint
from agents.policy.hub import PREFIX
from teamsets.checksums import write_checksums
from teamsets.errors import ArenaError
from training.archive.card import model_card
from training.archive.contents import CARD, LICENSE, MANIFEST, ArchivedRun, about
from training.archive.ratings import StoredRating


class PushFailed(ArenaError):
    """The hub refused a repository or its files, or could not be reached."""


def push(
    run: ArchivedRun,
    repository: str,
    *,
    license_name: str,
    license_text: str,
    ratings: list[StoredRating],
    private: bool,
    branch: str | None,
) -> str:
    """Create the repository if it is not there, and upload the checkpoint as one commit; returns the commit's hash.

    Uploaded are weights, metadata, configuration, metrics, curves, and a model card. Raises PushFailed.
    """
    import httpx
    from huggingface_hub import HfApi, errors

    api = HfApi()
    with tempfile.TemporaryDirectory() as folder:
        write_repository(run, Path(folder), repository, license_name, license_text, ratings)
        try:
            api.create_repo(repository, private=private, exist_ok=True)
            if branch is not None:
                api.create_branch(repository, branch=branch, exist_ok=True)
            commit = api.upload_folder(
                repo_id=repository,
                folder_path=folder,
                revision=branch,
                commit_message=f"Step {checkpoint.read(run.checkpoint).step:,} of {run.folder.name}",
            )
        except (errors.HfHubHTTPError, errors.HFValidationError, httpx.HTTPError, OSError, ValueError) as error:
            reason = " ".join(str(error).split())[:300]
            raise PushFailed(
                f"{repository}: {reason}: see to its name, HF_TOKEN (with write access) and HF_ENDPOINT"
            ) from None
    return str(commit.oid)


def write_repository(
    run: ArchivedRun,
    out: Path,
    repository: str,
    license_name: str,
    license_text: str,
    ratings: list[StoredRating],
) -> dict[str, Any]:
    """Write the repository's files into an empty folder; returns what its archive.json says."""
    manifest = about(run)
    for name, file in run.files.items():
        copyfile(file, out / Path(name).name)  # the checkpoint's own at the top
    write_checksums(out)
    (out / MANIFEST).write_text(json.dumps(manifest, indent=1) + "\n", encoding="utf-8")
    play = f"    arena evaluate policy:{PREFIX}{repository} heuristic:max-damage"
    card = model_card(run, manifest, license_name, has_text=bool(license_text), play=play, ratings=ratings)
    (out / CARD).write_text(_front_matter(manifest, license_name) + card, encoding="utf-8")
    if license_text:
        (out / LICENSE).write_text(license_text, encoding="utf-8")
    return manifest


def _front_matter(manifest: dict[str, Any], license_name: str) -> str:
    """The lines by which a hub lists the model. Its names of licences are lower-case."""
    lines = [
        "library_name: battle-arena",
        "pipeline_tag: reinforcement-learning",
        "tags:",
        "- pokemon",
        "- pokemon-showdown",
    ]
    if license_name and " " not in license_name:
        lines.insert(0, f"license: {license_name.lower()}")
    return "\n".join(["---", *lines, f"model_name: {json.dumps(manifest['name'])}", "---", ""]) + "\n"
