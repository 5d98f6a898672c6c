import re
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from support.command_line import PROJECT
from support.made_logs import four_shown
from support.team_samples import BAD, GOOD

from arena.commands.teams import teams
from teamsets.errors import ArenaError, BadInput
from teamsets.loading import load_set
from teamsets.splitting import TeamSplit, split_teams

GUIDE = PROJECT / "docs" / "teams.md"


def run(*arguments: str) -> Result:
    """Run `arena teams ARGUMENTS`; what the project raises on purpose is raised."""
    result = CliRunner().invoke(teams, arguments)
    if isinstance(result.exception, ArenaError):
        raise result.exception
    return result


def test_list_counts_each_format() -> None:
    lines = run("list").output.splitlines()
    assert "competitive" in lines[1] and "variety" in lines[1]
    counts = re.findall(r"(gen\dou)\D+(\d+)\D+(\d+)\D+1000\*", "\n".join(lines))
    assert [(name, count) for name, count, _ in counts] == [(f"gen{gen}ou", "32") for gen in range(1, 10)]
    assert all(30 <= int(count) <= 32 for *_, count in counts), "of the verdict"
    assert "gen9ou" not in run("list", "--format", "gen1ou").output


def test_show_one_team_in_export_text() -> None:
    listed = run("show", "competitive", "--format", "gen1ou").output
    name = re.findall(r"\d\d-[a-z-]+", listed)[0]
    text = run("show", "competitive", name, "--format", "gen1ou").output
    assert text.count("\n- ") == 24
    with pytest.raises(BadInput, match="team 'nobody': not in competitive"):
        run("show", "competitive", "nobody", "--format", "gen1ou")


def test_validate_counts_and_refuses(tmp_path: Path) -> None:
    (tmp_path / "good.txt").write_text(GOOD)
    assert run("validate", str(tmp_path), "--format", "gen1ou").output.endswith(": 1 team valid for gen1ou\n")
    (tmp_path / "bad.txt").write_text(BAD)
    (tmp_path / "worse.txt").write_bytes(b"\xff\x00")
    result = CliRunner().invoke(teams, ("validate", str(tmp_path), "--format", "gen1ou"))
    assert [line.split(": ")[:2] for line in result.output.splitlines()] == [
        ["refused", str(tmp_path / name)] for name in ("bad.txt", "worse.txt")
    ]
    assert str(result.exception) == (
        f"{tmp_path}: 2 teams refused for gen1ou, listed above: fix them, or leave them out with --skip-invalid"
    )
    (tmp_path / "worse.txt").unlink()
    output = run("validate", str(tmp_path), "--format", "gen1ou", "--skip-invalid").output
    assert output.startswith(f"left out: {tmp_path / 'bad.txt'}")
    assert output.endswith(": 1 team valid for gen1ou, 1 left out\n")


@pytest.mark.parametrize("team_set", ["variety", "competitive"])
@pytest.mark.slow
def test_made_teams_load_again(team_set: str, tmp_path: Path) -> None:
    arguments = ("make", team_set, "--format", "gen1ou", "--count", "3", "--seed", "8", "--out", str(tmp_path))
    assert run(*arguments).output == f"3 teams written to {tmp_path / 'gen1ou'}\n"
    assert "3 teams valid" in run("validate", str(tmp_path), "--format", "gen1ou").output
    with pytest.raises(BadInput, match="is not empty"):
        run(*arguments)


def test_what_is_shipped_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(
        BadInput, match="team set 'mine': not a set that can be generated: choose competitive or variety"
    ):
        run("make", "mine", "--format", "gen1ou", "--out", str(tmp_path))


@pytest.mark.parametrize("name", sorted(teams.commands))
def test_every_command_shows_an_example(name: str) -> None:
    assert f"arena teams {name} " in run(name, "--help").output


@pytest.mark.slow
def test_the_guides_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my-replays").mkdir()
    (tmp_path / "my-replays" / "gen1ou-1.log").write_text(four_shown())
    commands = re.findall(r"^arena teams (.*)$", GUIDE.read_text(), re.MULTILINE)
    assert {command.split()[0] for command in commands} == set(teams.commands)
    for command in commands:
        words = shlex.split(command.replace("my-vgc-teams", "variety:140"), comments=True)
        result = run(*words)
        assert result.exit_code == 0, f"{command}: {result.output}"


def test_a_split_depends_on_the_teams_and_the_seed_alone() -> None:
    loaded = load_set("competitive", "gen1ou").teams
    split = split_teams(loaded, [1, 4], 10, seed=3)
    assert [len(each) for each in split.training.values()] == [1, 4] and len(split.unseen) == 10
    assert split.training[4][:1] == split.training[1]
    assert not {team.id for team in split.training[4]} & {team.id for team in split.unseen}
    renamed = [replace(team, name=f"other-{place}") for place, team in enumerate(reversed(loaded))]
    assert [team.id for team in split_teams(renamed, [4], 10, seed=3).unseen] == [team.id for team in split.unseen]
    assert {team.id for team in split_teams(loaded, [4], 10, seed=4).unseen} != {team.id for team in split.unseen}
    turned = replace(loaded[0], packed="]".join(reversed(loaded[0].packed.split("]"))))
    assert TeamSplit({1: [loaded[0]]}, [turned]).same_species == 1 and split.same_species == 0


def test_split_writes_sets_of_teams(tmp_path: Path) -> None:
    chosen = ("split", "competitive", "--format", "gen1ou", "--seed", "3", "--out")
    said = run(*chosen, str(tmp_path / "split"), "--train", "4", "--unseen", "10")
    assert f"{tmp_path / 'split/unseen'}: 10 teams" in said.output
    written = load_set(str(tmp_path / "split/unseen"), "gen1ou").teams
    expected = split_teams(load_set("competitive", "gen1ou").teams, [4], 10, seed=3).unseen
    assert {team.id for team in written} == {team.id for team in expected}
    with pytest.raises(BadInput, match="is not empty"):
        run(*chosen, str(tmp_path / "split"))
    with pytest.raises(BadInput, match="needs 136 teams, and there are 32"):
        run(*chosen, str(tmp_path / "new"))
