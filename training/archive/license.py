"""The licence that a network is given away under: the option of the commands that do so."""

from __future__ import annotations

from pathlib import Path

import click

from teamsets.reading import read_text

license_option = click.option(
    "--license", "license_name", default="", help="Licence of the network: a name (CC-BY-4.0), or a file with its text."
)


def read_license(given: str) -> tuple[str, str]:
    """The licence's name, and its text if a file was given: ("CC-BY-4.0", "")."""
    if Path(given).is_file():
        return f"That of {Path(given).name}", read_text(Path(given))
    return given, ""
