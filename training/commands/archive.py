"""`train archive`: packs a run into one file."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from arena.terminal.commands import db_option, json_option, print_json
from teamsets.errors import BadInput
from training.archive.license import license_option, read_license


@click.command()
@click.argument("run", metavar="RUN")
@click.option("--out", type=click.Path(path_type=Path), help="The file to write.  [default: NAME.tar.zst]")
@license_option
@json_option
@db_option
def archive(run: str, out: Path | None, license_name: str, as_json: bool, db: Path) -> None:
    """Pack a checkpoint of a run into one file.

    The file has the configuration of RUN, its metrics, data hashes, lineage and a model card, which has its ratings in the
    battles of the database.

    RUN is a run's folder, RUN@best, RUN@last or RUN@STEP. Every file has a checksum; `train unarchive` refuses a damaged
    archive. See docs/training.md.

    \b
    Examples:
      train archive runs/tiny@best --license CC-BY-4.0
      train unarchive tiny.tar.zst --out tiny
      arena evaluate policy:tiny random
    """
    from training.archive.contents import run_of
    from training.archive.packing import pack
    from training.archive.ratings import stored_ratings

    given = run_of(run)
    license_name, text = read_license(license_name)
    file = out or Path(f"{given.config.get('name', given.folder.name)}.tar.zst")
    if file.is_dir():
        raise BadInput(f"--out {file}: is a folder: name a file, for example {file / 'run.tar.zst'}")
    manifest = pack(given, file, license_name, text, stored_ratings(db, given.checkpoint))
    if as_json:
        print_json({"file": file, **manifest})
    print(
        f"{file}: {file.stat().st_size / 2**20:.1f} MiB, step {manifest['step']:,}, {len(manifest['files'])} files",
        file=sys.stderr,
    )
