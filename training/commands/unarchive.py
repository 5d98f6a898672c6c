"""`train unarchive`: unpacks what `train archive` has packed."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from arena.terminal.commands import json_option, print_json


@click.command()
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.option("--out", type=click.Path(path_type=Path), help="The new folder.  [default: the name of the archived run]")
@json_option
def unarchive(file: Path, out: Path | None, as_json: bool) -> None:
    """Unpack an archive of `train archive`.

    The folder plays as policy:FOLDER.

    A damaged archive is refused, with the name of the file in it that is damaged, and leaves nothing.

    \b
    Examples:
      train unarchive tiny.tar.zst
      train unarchive tiny.tar.zst --out players/tiny
      arena evaluate policy:players/tiny random
    """
    from training.archive.packing import unpack

    folder = out or Path(file.name.removesuffix(".zst").removesuffix(".tar"))
    manifest = unpack(file, folder)
    print(
        f"{folder}: {len(manifest['files'])} files, all as their checksums say; step {manifest['step']:,}",
        file=sys.stderr,
    )
    print(f"agent: policy:{folder}", file=sys.stderr)
    if as_json:
        print_json({"folder": folder, "agent": f"policy:{folder}", **manifest})
