"""A story (story_types.py) as text for a terminal: what `arena watch` prints."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from arena.report.story_types import (
    SEAT_NAMES,
    ChoiceNumbers,
    SeatName,
    Story,
    StoryDecision,
    StorySlot,
    StoryState,
    StoryTurn,
)

_CELLS = 10
_BAR = 5
#: So many other choices are named all, and of more so many: two slots have some dozens, a team preview 360.
_ALL, _FIRST = 60, 20
#: Narrower than this, the two sides stand one below the other.
_SIDE_BY_SIDE = 100


def head(story: Story) -> Group:
    """Who played, where, and how it ended."""
    seats = story["seats"]
    turns = "1 turn" if story["length"] == 1 else f"{story['length']} turns"
    facts = f"battle {story['id']}, {story['format']}, {story['team_set']} teams, {turns}"
    lines = [_text(f"{seats['p1']['agent']} against {seats['p2']['agent']}", "bold"), _text(facts, "dim")]
    lines.append(_text(story["result"], "bold red" if story["fault"] else "bold"))
    if story["detail"]:
        lines.append(_text(story["detail"], "dim"))
    if not story["turns"]:
        lines.append(_text("This battle has no log, so there are no turns to show."))
    lines += [_text(words, "dim") for words in story["unseen"].values()]
    return Group(*lines)


def turn(story: Story, index: int, width: int, *, brief: bool = False) -> Group:
    """The turn at that index of the story. width: of the terminal, in characters. brief: who is not out in one line."""
    current = story["turns"][index]
    following = (
        story["turns"][index + 1]["state"] if index + 1 < len(story["turns"]) else story["end"] or current["state"]
    )
    name = "Start" if current["turn"] == 0 else f"Turn {current['turn']} of {story['length']}"
    field = current["state"].get("field")
    title = _text(name, "bold")
    if field:
        title.append("  on the field: ", "not bold dim").append(", ".join(field), "not bold")
    sides = [_side(story, seat, current["state"], following, brief) for seat in SEAT_NAMES]
    choices = [_choices(story, seat, current) for seat in SEAT_NAMES]
    events = [Text.assemble((f"{seat or '–':<4}", "dim"), _text(words)) for seat, words in current["events"]]
    roomy = any(len(decision.get("tables", {})) > 1 for decision in current["decisions"])
    parts = [title, Text(), _pair(sides, width), Text(), *events]
    if current["decisions"]:
        parts += [Text(), _pair(choices, 0 if roomy else width)]
    return Group(*parts)


def hp_bar(share: float) -> str:
    """ "[######----] 62%". Full only with all HP, empty only without any."""
    filled = round(_CELLS * share)
    filled = 0 if share <= 0 else _CELLS if share >= 1 else min(max(filled, 1), _CELLS - 1)
    return f"[{'#' * filled}{'-' * (_CELLS - filled)}] {_percent(share)}"


def _percent(share: float) -> str:
    """Rounded, but 0% and 100% stand for exactly nothing and all."""
    return "<1%" if 0 < share < 0.01 else "99%" if 0.99 < share < 1 else f"{share:.0%}"


def _text(words: str, style: str = "") -> Text:
    """Text that moves no cursor and sets no colour, whatever an agent put into it."""
    return Text("".join(c if c.isprintable() or c == "\n" else "�" for c in words), style)


def _pair(parts: Sequence[RenderableType], width: int) -> RenderableType:
    if width < _SIDE_BY_SIDE:
        return Group(parts[0], Text(), parts[1])
    grid = Table.grid(expand=True, padding=(0, 3, 0, 0))
    for _ in parts:
        grid.add_column(ratio=1)
    grid.add_row(*parts)
    return grid


def _side(story: Story, seat: SeatName, state: StoryState, following: StoryState, brief: bool) -> Group:
    side, about = state[seat], story["seats"][seat]
    out = {slot["active"]: slot for slot in (side, side.get("beside", StorySlot())) if "active" in slot}
    table = Table.grid(padding=(0, 1, 0, 0))
    bench = []
    for index in [*out, *(index for index in range(len(about["pokemon"])) if index not in out)]:
        name, usual = about["pokemon"][index]
        now, after = side["hp"][index], following[seat]["hp"][index]
        most, most_after = (each.get("most", {}).get(str(index), usual) for each in (side, following[seat]))
        marks = [side["status"][str(index)]] if str(index) in side.get("status", {}) else []
        marks += [f"Tera {side['tera'][str(index)]}"] if str(index) in side.get("tera", {}) else []
        if index in out:
            marks += [f"{stat} {amount:+d}" for stat, amount in out[index].get("boosts", {}).items()]
            marks += out[index].get("effects", [])
        elif brief:
            bench.append(" ".join([name, _percent(now / most) if now else "fainted", *marks]))
            continue
        share_after = _percent(after / most_after)
        same = after == now if most == most_after else share_after == _percent(now / most)  # Dynamax doubles both
        change = "" if same else " → fainted" if after == 0 else f" → {share_after}"
        shown = f"{hp_bar(now / most) if now else 'fainted'}{change}"
        cells = ["*" if index in out else " ", name, shown, f"{now}/{most}" if index in out and now else ""]
        style = "bold" if index in out else "" if now else "dim"
        table.add_row(*(_text(cell, style) for cell in cells), _text(", ".join(marks)))
    lines: list[RenderableType] = [Text.assemble((f"{seat} ", "dim"), _text(about["agent"], "bold")), table]
    if bench:
        lines.append(Padding(_text(", ".join(bench)), (0, 0, 0, 2)))
    if side.get("layers"):
        lines.append(Text.assemble(("on this side: ", "dim"), _text(", ".join(side["layers"]))))
    return Group(*lines)


def _choices(story: Story, seat: SeatName, current: StoryTurn) -> Group:
    made = [decision for decision in current["decisions"] if decision["seat"] == seat]
    if seat in story["unseen"]:
        return Group(Text(f"{seat}'s choices are unknown", "dim"))
    if not made:
        return Group(Text(f"{seat} made no choice in this turn", "dim"))
    return Group(*(_decision(story["seats"][seat]["choices"], decision) for decision in made))


def _decision(names: list[list[str]], decision: StoryDecision) -> Group:
    count = len(decision["legal"])
    what = "replaces" if decision.get("forced") else "chooses"
    of = (
        "the only choice" if count == 1 else f"of {count} of both slots" if decision.get("joint") else f"one of {count}"
    )
    lines: list[RenderableType] = [
        Text.assemble(
            (f"{decision['seat']} ", "dim"),
            f"{what}: ",
            _text(names[decision["choice"]][1], "bold"),
            (f"  {of}, {decision['ms']:g} ms", "dim"),
        )
    ]
    if decision.get("tables"):
        lines.append(_numbers(names, decision))
    else:
        others = [names[number][1] for number in decision["legal"] if number != decision["choice"]]
        if len(others) > _ALL:
            others = [*others[:_FIRST], f"and {len(others) - _FIRST} more"]
        lines += [Padding(_text(f"or: {'; '.join(others)}", "dim"), (0, 0, 0, 3))] if others else []
    for name, text in decision.get("texts", []):
        lines.append(Padding(Text.assemble((f"{name or 'diagnostics'}: ", "dim"), _text(text)), (0, 0, 0, 3)))
    return Group(*lines)


def _numbers(names: list[list[str]], decision: StoryDecision) -> Padding:
    """The legal choices, with the agent's own numbers for each and a bar: of # from zero up, of - below zero."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("", "choice", *decision["tables"]):
        table.add_column(_text(title), no_wrap=title != "choice", min_width=12 if title == "choice" else None)
    for place, number in enumerate(decision["legal"]):
        chosen = number == decision["choice"]
        cells = [_number(row[place], row) for row in decision["tables"].values()]
        table.add_row(">" if chosen else "", _text(names[number][1], "bold" if chosen else ""), *cells)
    return Padding(table, (0, 0, 0, 2))


def _number(value: float | None, row: ChoiceNumbers) -> str:
    if value is None:
        return ""
    greatest = max(abs(number) for number in row if number is not None) or 1
    return f"{value:<7g} {('#' if value > 0 else '-') * round(_BAR * abs(value) / greatest)}"
