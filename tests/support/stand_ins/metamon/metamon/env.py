"""A stand-in for metamon's team sets: a folder for each format, files by its extension."""

from pathlib import Path


class TeamSet:
    def __init__(self, team_file_dir, battle_format):
        (file,) = Path(team_file_dir, battle_format).glob(f"*.{battle_format}_team")
        self.text = file.read_text()


def get_metamon_teams(battle_format, set_name, set_type=TeamSet):
    raise AssertionError("a team set would have been fetched")
