from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import pytest
from support.team_samples import BAD, GOOD, SOME_FAST

from teamsets import cache, loading
from teamsets.errors import BadInput, BadTeam, UnknownFormat
from teamsets.loading import count_shipped, load_set, set_names
from teamsets.validator import TeamValidator

PEOPLES_TEAMS = Path(__file__).parents[3] / "shared" / "replays" / "teams"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with one good team, the same again, a bad one and one that is not text."""
    teams = tmp_path / "teams"
    teams.mkdir()
    (teams / "a-good.txt").write_text(GOOD)
    (teams / "b-bad.txt").write_text(BAD)
    (teams / "c-again.txt").write_text(GOOD.replace("\n", "  \n"))
    (teams / "d-binary.txt").write_bytes(b"\xff\x00")
    return teams


@pytest.mark.parametrize("format_id", SOME_FAST)
def test_the_shipped_teams_are_full_distinct_and_accepted(format_id: str, validator: TeamValidator) -> None:
    loaded = load_set("competitive", format_id)
    assert loaded.skipped == ()
    assert len(loaded.teams) == count_shipped("competitive", format_id) >= 30
    assert len({team.id for team in loaded.teams}) == len(loaded.teams)
    assert all(len(set(team.species)) == 6 for team in loaded.teams)
    assert all(len(set(one.species) & set(other.species)) <= 4 for one, other in combinations(loaded.teams, 2))
    for team in loaded.teams:
        assert validator.validate(format_id, validator.export(team.packed)).packed == team.packed


def test_the_second_load_starts_no_node(forbid_node: Callable[[], None]) -> None:
    first = load_set("competitive", "gen1ou")
    forbid_node()
    assert load_set("competitive", "gen1ou") == first


def test_a_changed_file_is_judged_anew(folder: Path, empty_cache: Path) -> None:
    load_set(str(folder / "a-good.txt"), "gen1ou")
    (folder / "a-good.txt").write_text(BAD)
    with pytest.raises(BadTeam):
        load_set(str(folder / "a-good.txt"), "gen1ou")


def test_other_rules_are_another_verdict(monkeypatch: pytest.MonkeyPatch, forbid_node: Callable[[], None]) -> None:
    loading.validate_teams("gen1ou", [GOOD])
    forbid_node()
    loading.validate_teams("gen1ou", [GOOD])
    monkeypatch.setattr(loading, "rules_version", lambda: "other")
    with pytest.raises(AssertionError, match="started a program"):
        loading.validate_teams("gen1ou", [GOOD])


@pytest.mark.parametrize("garbage", ['{"a": 1}', '{"a": ['])
def test_a_spoilt_cache_is_no_cache(garbage: str, empty_cache: Path) -> None:
    [verdict] = loading.validate_teams("gen1ou", [GOOD])
    for kept in empty_cache.rglob("*.json"):
        kept.write_text(garbage)
    assert loading.validate_teams("gen1ou", [GOOD]) == [verdict]


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    cache.write("name.json", 1)
    assert cache.read("name.json") is None


def test_a_refused_team_stops_with_its_file_and_showdowns_words(folder: Path) -> None:
    with pytest.raises(BadTeam) as caught:
        load_set(str(folder), "gen1ou")
    line = str(caught.value)
    assert line.startswith(f"{folder / 'b-bad.txt'}: Starmie can't learn Spore. (1 more refused; fix the file")
    assert "\n" not in line


def test_the_teams_of_a_file_with_headings(tmp_path: Path) -> None:
    path = tmp_path / "mine.txt"
    second = GOOD.replace("- Recover", "- Surf")
    path.write_text(f"=== [gen1ou] A ===\n\n{GOOD}\n=== B ===\n\n{second}\n=== [gen2ou] C ===\n\n{GOOD}")
    assert [team.name for team in load_set(str(path), "gen1ou").teams] == ["mine-a", "mine-b"]
    path.write_text(f"=== [gen1ou] A ===\n\n{GOOD}\n=== [gen1ou] B ===\n\n{BAD}\n")
    with pytest.raises(BadTeam, match=r"mine\.txt, \[gen1ou\] B: Starmie can't learn Spore"):
        load_set(str(path), "gen1ou")
    with pytest.raises(BadInput, match="contains no team for gen3ou: it has teams for gen1ou"):
        load_set(str(path), "gen3ou")


def test_skip_invalid_leaves_out_and_says_which(folder: Path) -> None:
    loaded = load_set(str(folder), "gen1ou", skip_invalid=True)
    assert [team.name for team in loaded.teams] == ["a-good"]
    assert [line.split(": ")[0] for line in loaded.skipped] == [
        str(folder / name) for name in ("b-bad.txt", "d-binary.txt", "c-again.txt")
    ]


def test_a_folder_of_refused_teams_is_an_error_all_the_same(folder: Path) -> None:
    with pytest.raises(BadInput, match=r"every team was refused for gen1ou, the first: .*Spore"):
        load_set(str(folder / "b-bad.txt"), "gen1ou", skip_invalid=True)


def test_count_draws_by_seed_and_keeps_the_order() -> None:
    whole = load_set("competitive", "gen1ou").teams
    drawn = load_set("competitive", "gen1ou", count=5, seed=3).teams
    assert drawn == load_set("competitive", "gen1ou", count=5, seed=3).teams
    assert drawn != load_set("competitive", "gen1ou", count=5, seed=4).teams
    assert list(drawn) == [team for team in whole if team in drawn]
    assert load_set("competitive", "gen1ou", count=999).teams == whole


@pytest.mark.parametrize(
    ("name", "format_id", "line"),
    [
        ("competitve", "gen1ou", "team set 'competitve': no such set and no such folder: did you mean competitive?"),
        ("nowhere/at/all", "gen1ou", "or one of competitive, verdict, variety"),
        ("competitive", "gen9monotype", "has no teams for gen9monotype: it has gen1ou, gen2ou"),
        ("competitive", "gen1uo", "has no teams for gen1uo: did you mean gen1ou? It has gen1ou, gen2ou"),
        (
            "competitive",
            "gen8doublesou",
            "for gen8doublesou: use --teams variety, which has teams for it, or a folder of",
        ),
        ("variety", "gen1uo", "did you mean gen1ou"),
        ("competitive", "gen1randombattle", "the simulator generates its teams"),
        ("variety:many", "gen1ou", "write e.g. variety:250"),
        ("variety:0", "gen1ou", "write e.g. variety:250"),
        ("variety", "gen9lc", "no published sets"),
    ],
)
def test_what_cannot_be_loaded_is_said_in_one_line(name: str, format_id: str, line: str) -> None:
    with pytest.raises(BadInput) as caught:
        load_set(name, format_id)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_showdown_refuses_formats_that_only_look_right(folder: Path) -> None:
    with pytest.raises(UnknownFormat, match="'gen1oo'"):
        load_set(str(folder), "gen1oo")


def test_a_count_below_one_is_refused() -> None:
    with pytest.raises(BadInput, match="count 0"):
        load_set("competitive", "gen1ou", count=0)


def test_the_sets_by_name() -> None:
    assert set_names() == ["competitive", "verdict", "variety"]


@pytest.mark.skipif(not PEOPLES_TEAMS.is_dir(), reason="people's teams are not part of the project")
@pytest.mark.parametrize("format_id", ["gen1ou", "gen9ou"])
def test_peoples_teams_load(format_id: str) -> None:
    loaded = load_set(str(PEOPLES_TEAMS), format_id, skip_invalid=True)
    assert len(loaded.teams) + len(loaded.skipped) == len(list((PEOPLES_TEAMS / format_id).iterdir()))
    assert len(loaded.teams) > len(loaded.skipped)
    assert all(team.format == format_id for team in loaded.teams)


@pytest.mark.slow
@pytest.mark.parametrize("format_id", [f"gen{gen}ou" for gen in range(1, 10)])
def test_no_team_of_the_verdict_is_a_competitive_one(format_id: str) -> None:
    verdict, competitive = (load_set(name, format_id).teams for name in ("verdict", "competitive"))
    assert 30 <= len(verdict) <= 32
    assert not {frozenset(team.species) for team in verdict} & {frozenset(team.species) for team in competitive}
