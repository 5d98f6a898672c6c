from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from support.team_samples import SOME_FAST

from teamsets import variety
from teamsets.builder.recipes import common_leads
from teamsets.errors import BadInput
from teamsets.formats import get_format
from teamsets.loading import load_set
from teamsets.validator import TeamValidator


@pytest.mark.parametrize("format_id", SOME_FAST)
def test_teams_are_valid_distinct_and_led_by_the_unusual(format_id: str, validator: TeamValidator) -> None:
    teams = variety.teams(get_format(format_id), 40, seed=5)
    assert len({team.id for team in teams}) == 40
    assert all(validator.validate(format_id, team.packed).packed == team.packed for team in teams)
    assert all(len(set(team.species)) == 6 for team in teams)
    leads = Counter(team.species[0] for team in teams)
    assert sum(leads[name] for name in common_leads(format_id)) <= 1  # drawn evenly they would be 2 to 4
    assert len(leads) >= 25


@pytest.mark.slow
def test_a_seed_always_makes_the_same_and_more_are_only_added(empty_cache: Path) -> None:
    few = variety.teams(get_format("gen1ou"), 4, seed=1)
    more = variety.teams(get_format("gen1ou"), 9, seed=1)
    assert [team.source for team in few] == [f"variety seed=1 index={index}" for index in range(4)]
    assert more[:4] == few
    assert {team.id for team in variety.teams(get_format("gen1ou"), 4, seed=2)}.isdisjoint(team.id for team in more)


def test_a_kept_set_starts_no_node(forbid_node: Callable[[], None]) -> None:
    made = load_set("variety:5", "gen1ou", seed=1)
    forbid_node()
    assert load_set("variety:5", "gen1ou", seed=1) == made
    assert load_set("variety", "gen1ou", count=3, seed=1).teams == made.teams[:3]


def test_a_spoilt_cache_is_made_anew(empty_cache: Path) -> None:
    made = variety.teams(get_format("gen1ou"), 2, seed=1)
    for path in (empty_cache / "battle-arena" / "variety").iterdir():
        path.write_text('{"a": 1}')
    assert variety.teams(get_format("gen1ou"), 2, seed=1) == made


@pytest.mark.parametrize("format_id", ["gen1uu", "gen6ou"])
def test_formats_that_nobody_listed_work_where_sets_are_published(format_id: str) -> None:
    assert len(load_set("variety:3", format_id).teams) == 3


def test_a_format_without_published_sets_is_refused() -> None:
    with pytest.raises(BadInput, match="bring a folder of teams"):
        variety.teams(get_format("gen9monotype"), 1, seed=0)
