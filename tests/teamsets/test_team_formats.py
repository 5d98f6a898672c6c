from collections.abc import Callable

import pytest

from teamsets.errors import UnknownFormat
from teamsets.formats import (
    DOUBLES_FORMATS,
    LADDER_FORMATS,
    RANDOM_FORMATS,
    Format,
    get_format,
    get_singles_format,
    lookalikes,
    split_series,
)


@pytest.mark.parametrize("format_id", LADDER_FORMATS)
def test_ladder_formats_bring_teams(format_id: str, forbid_node: Callable[[], None]) -> None:
    forbid_node()
    assert get_format(format_id) == Format(format_id, int(format_id[3]), random=False)


@pytest.mark.parametrize("format_id", RANDOM_FORMATS)
def test_random_formats_draw_their_own(format_id: str) -> None:
    assert get_format(format_id) == Format(format_id, int(format_id[3]), random=True)


def test_nine_random_formats() -> None:
    assert len(RANDOM_FORMATS) == 9


@pytest.mark.parametrize(
    ("written", "format_id"),
    [("[Gen 1] OU", "gen1ou"), ("Gen5OU", "gen5ou"), ("gen71v1", "gen71v1"), ("../gen1ou/", "gen1ou")],
)
def test_names_and_other_singles_formats(written: str, format_id: str) -> None:
    assert get_format(written).id == format_id


@pytest.mark.parametrize("format_id", DOUBLES_FORMATS)
def test_doubles_have_two_slots(format_id: str) -> None:
    found = get_format(format_id)
    assert found == Format(
        format_id, int(format_id[3]), random="random" in format_id, doubles=True, open_sheets="vgc" in format_id
    )
    assert not get_format("gen9ou").doubles


@pytest.mark.parametrize("format_id", ["gen8multirandombattle", "gen9triples", "gen9freeforall"])
def test_more_than_two_sides_or_slots_are_refused_in_one_line(format_id: str) -> None:
    with pytest.raises(
        UnknownFormat, match=f"^format '{format_id}': only singles and doubles of two sides .+doublesou$"
    ):
        get_format(format_id)


def test_a_series_is_no_format_of_a_battle_and_its_battles_are_named() -> None:
    with pytest.raises(UnknownFormat, match=r"battles of gen9championsvgc2026regma: .*--best-of 3$"):
        get_format("gen9championsvgc2026regmabo3")
    assert split_series("[Gen 9 Champions] VGC 2026 Reg M-A (Bo3)") == ("gen9championsvgc2026regma", 3)
    assert split_series("gen9ou") == ("gen9ou", 1)


def test_what_plays_singles_only_says_so() -> None:
    assert get_singles_format("gen9ou", "an environment").id == "gen9ou"
    with pytest.raises(UnknownFormat, match=r"'gen9doublesou': an environment plays singles only: choose .+gen9ou"):
        get_singles_format("gen9doublesou", "an environment")


@pytest.mark.parametrize("format_id", ["ou", "gen10ou", "gen0ou", "gen1", "", "genou"])
def test_what_is_no_format_id_is_refused(format_id: str) -> None:
    with pytest.raises(UnknownFormat, match="not a format id"):
        get_format(format_id)


def test_a_typing_error_gets_a_suggestion() -> None:
    with pytest.raises(UnknownFormat, match=r"did you mean .*gen1ou"):
        get_format("ge1ou")


def test_a_suggestion_keeps_the_generation_where_it_can() -> None:
    assert lookalikes("gen1uo") == "gen1ou"
    assert lookalikes("gen3randombatle") == "gen3randombattle"
    assert lookalikes("gen1uo", ("gen1uu", "gen1ou", "gen1pu")) == "gen1ou"  # two letters that changed places
    assert lookalikes("nothing at all") == ""
