from pathlib import Path

import pytest

from teamsets.errors import BadInput, BadTeam
from teamsets.files import TeamFile, team_files


def put(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("Mew\n")


def found(root: Path, format_id: str) -> list[str]:
    return [file.path.relative_to(root).as_posix() for file in team_files(root, format_id)]


def test_a_plain_folder_serves_any_format(tmp_path: Path) -> None:
    put(tmp_path, "b.txt", "a.txt", "deep/er/c.txt", ".hidden.txt", ".git/d.txt", "notes.md")
    assert found(tmp_path, "gen1ou") == found(tmp_path, "gen9ou") == ["a.txt", "b.txt", "deep/er/c.txt"]


def test_folders_named_like_formats_choose(tmp_path: Path) -> None:
    put(tmp_path, "set/gen1ou/a.txt", "set/gen2ou/b.txt", "gen2ou/old/gen1ou/c.txt")
    assert found(tmp_path, "gen1ou") == ["gen2ou/old/gen1ou/c.txt", "set/gen1ou/a.txt"]
    with pytest.raises(BadInput, match="contains no team for gen2ou: it has teams for gen1ou"):
        team_files(tmp_path / "set" / "gen1ou", "gen2ou")


def test_metamons_names_are_read_in_nested_folders(tmp_path: Path) -> None:
    put(tmp_path, "x/gen1/ou/team_7.gen1ou_team", "y/team_8.gen1ou_team.txt", "y/team_9.gen2ou_team")
    assert [(file.name, file.format) for file in team_files(tmp_path, "gen1ou")] == [
        ("team_7", "gen1ou"),
        ("team_8", "gen1ou"),
    ]


def test_one_file_is_enough(tmp_path: Path) -> None:
    put(tmp_path, "mine.team")
    assert team_files(tmp_path / "mine.team", "gen1ou") == [TeamFile(tmp_path / "mine.team", "mine", None)]


def test_an_empty_folder_names_itself_and_the_mend(tmp_path: Path) -> None:
    with pytest.raises(
        BadInput, match=f"^team folder '{tmp_path}': contains no team for gen1ou: put one team per file"
    ):
        team_files(tmp_path, "gen1ou")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xff\xfe", "not UTF-8 text"),
        (b"Mew\0\n", "contains NUL bytes, so it is not a text file"),
        (b"Mew\n" * 1_500_000, "larger than 1 MB"),
    ],
)
def test_what_cannot_be_a_team_is_named(data: bytes, reason: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(data)
    with pytest.raises(BadTeam, match=rf"a\.txt: cannot be read \({reason}\)"):
        team_files(tmp_path, "gen1ou")[0].text()


def test_each_heading_of_the_teambuilder_begins_a_team(tmp_path: Path) -> None:
    (tmp_path / "two.txt").write_text(
        "=== [gen9ou] First one ===\r\n\r\nMew\r\n\r\n======\r\nSkarmory\r\n\r\n=== [gen1ou] folder/B ===\r\nTauros\n"
        "=== B ===\nChansey\n=== B ===\nStarmie"
    )
    teams = team_files(tmp_path / "two.txt", "gen9ou")[0].teams()
    assert [(team.name, team.format, team.text.split()) for team in teams] == [
        ("two-first-one", "gen9ou", ["Mew", "======", "Skarmory"]),
        ("two-folder-b", "gen1ou", ["Tauros"]),
        ("two-b", None, ["Chansey"]),
        ("two-b-2", None, ["Starmie"]),
    ]
    assert teams[1].where == f"{tmp_path / 'two.txt'}, [gen1ou] folder/B"


def test_one_heading_is_one_team_and_what_stands_before_it_another(tmp_path: Path) -> None:
    (tmp_path / "one.txt").write_text("\n=== [gen1ou] Mine ===\n\nMew\n")
    [team] = team_files(tmp_path, "gen9ou")[0].teams()
    assert (team.name, team.format) == ("one", None)
    (tmp_path / "one.txt").write_text("Tauros\n\n=== [gen1ou] Mine ===\n\nMew\n")
    assert [team.text.split()[0] for team in team_files(tmp_path, "gen9ou")[0].teams()] == ["Tauros", "Mew"]
