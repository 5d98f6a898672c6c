"""`train push`: a checkpoint as a repository on a model hub."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click

from agents.policy.hub import INSTALL, PREFIX, REPOSITORY, is_installed
from arena.terminal.commands import db_option, json_option, print_json
from teamsets.errors import BadInput, MissingTool
from training.archive.license import license_option, read_license


@click.command()
@click.argument("run", metavar="RUN")
@click.argument("repository", metavar="ORG/NAME")
@license_option
@click.option("--private", is_flag=True, help="Create a private repository, if it is not there yet.")
@click.option("--branch", metavar="NAME", help="Push to this branch, which is created if needed.  [default: main]")
@json_option
@db_option
def push(
    run: str, repository: str, license_name: str, private: bool, branch: str | None, as_json: bool, db: Path
) -> None:
    """Push a checkpoint to a model hub: policy:hf://ORG/NAME.

    The repository gets the weights of RUN (or RUN@best, RUN@STEP), its configuration, metrics, and a model card with its
    ratings in the battles of the database.

    It needs huggingface_hub and a token with write access (HF_TOKEN, or `hf auth login`). HF_ENDPOINT names another hub. See
    docs/training.md.

    \b
    Examples:
      train push runs/tiny@best my-team/gen1ou-tiny --license CC-BY-4.0
      train push runs/tiny@2000 my-team/gen1ou-tiny --branch step-2000
      arena evaluate policy:hf://my-team/gen1ou-tiny@step-2000 heuristic:expert
    """
    if not re.fullmatch(REPOSITORY, repository):
        raise BadInput(f"{repository}: not the name of a repository: write it as ORG/NAME")
    if not is_installed():
        raise MissingTool(f"train push: {INSTALL}")
    from training.archive.contents import run_of
    from training.archive.pushing import push as upload
    from training.archive.ratings import stored_ratings

    given = run_of(run)
    license_name, license_text = read_license(license_name)
    ratings = stored_ratings(db, given.checkpoint)
    if not ratings:
        print(f"train: {db} has no battles of this checkpoint: the card has no ratings (--db FILE)", file=sys.stderr)
    commit = upload(
        given,
        repository,
        license_name=license_name,
        license_text=license_text,
        ratings=ratings,
        private=private,
        branch=branch,
    )
    agent = f"policy:{PREFIX}{repository}@{commit}"
    if as_json:
        print_json({"repository": repository, "commit": commit, "agent": agent, "ratings": len(ratings)})
    else:
        print(f"{repository}: pushed as {commit}")
        print(f"agent: {agent}")
