"""The layouts of observations: how many tokens, features and actions there are, and where each stands.

SINGLES is described in agents/observation/observation.py and actions.py, DOUBLES in doubles/observation.py and
doubles/actions.py. Whatever handles arrays of either kind takes its sizes from one of these, or from the arrays.
"""

from __future__ import annotations

from dataclasses import dataclass

from teamsets.formats import get_format


@dataclass(frozen=True)
class Layout:
    """The sizes of an observation. slots: of a side, 1 in singles and 2 in doubles.

    tokens: of a decision, each with `ids` vocabulary ids and `features` numeric features. ours, theirs: the tokens of our
    and of their Pokémon. moves: the tokens of our moves. version: changes whenever the same battle would give other arrays;
    a checkpoint and a dataset store theirs.
    """

    slots: int
    tokens: int
    ids: int
    features: int
    actions: int
    ours: range
    theirs: range
    moves: range
    version: int


SINGLES = Layout(
    1, 19, 12, 56, 13, ours=range(3, 9), theirs=range(9, 15), moves=range(15, 19), version=7
)  # fmt: skip
DOUBLES = Layout(
    2, 23, 12, 80, 39, ours=range(3, 9), theirs=range(9, 15), moves=range(15, 23), version=1
)  # fmt: skip
_BY_SLOTS = {layout.slots: layout for layout in (SINGLES, DOUBLES)}
_BY_ACTIONS = {layout.actions: layout for layout in (SINGLES, DOUBLES)}


def layout_of(slots: int) -> Layout:
    """Return the layout of battles with so many slots a side. Raises ValueError unless they are 1 or 2."""
    if slots not in _BY_SLOTS:
        raise ValueError(f"{slots} slots a side: there are layouts of {' and '.join(map(str, _BY_SLOTS))}")
    return _BY_SLOTS[slots]


def layout_of_format(format_id: str) -> Layout:
    """Return the layout of a format's observations. Raises UnknownFormat."""
    return layout_of(get_format(format_id).slots)


def layout_with(actions: int) -> Layout:
    """Return the layout that has so many actions."""
    return _BY_ACTIONS[actions]
