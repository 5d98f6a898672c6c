from collections.abc import Callable

import pytest

from teamsets.errors import UnknownFormat
from teamsets.formats import LADDER_FORMATS, RANDOM_FORMATS, Format, get_format, lookalikes


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


@pytest.mark.parametrize(
    "format_id",
    ["gen9doublesou", "gen9vgc2024regg", "gen9randomdoublesbattle", "gen92v2doubles", "gen8multirandombattle"],
)
def test_doubles_are_refused_in_one_clear_line(format_id: str) -> None:
    with pytest.raises(UnknownFormat, match=f"^format '{format_id}': doubles are not supported: .+gen9ou$"):
        get_format(format_id)


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
