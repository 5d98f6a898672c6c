"""The HTML file in a real browser: no complaint, every part in sight, the viewer tells battles, a phone is wide enough."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.browser import Browser, Page, find_browser
from support.command_line import TESTS
from support.hostile import AGENTS, hostile_copy

from arena.report.html import render
from arena.report.summary import summarize
from arena.store import rows

PROGRAM = find_browser()
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no browser is installed: apt-get install chromium")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with Browser.launch(str(PROGRAM), tmp_path_factory.mktemp("profile")) as browser:
        yield browser.page()


@pytest.fixture(scope="module")
def address(played: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A report with hostile names, as a file."""
    folder = tmp_path_factory.mktemp("page")
    db, run_id = hostile_copy(played, folder)
    path = folder / "report.html"
    path.write_text(render(summarize(db, run_id), db, battles=8), encoding="utf-8")
    return path.as_uri()


def first_battle(page: Page) -> int:
    return int(page.run("JSON.parse(document.getElementById('battle-index').textContent)[0][0]"))


def overflow(page: Page) -> str:
    """What is wider than the window, apart from what scrolls in a box of its own."""
    script = """[...document.querySelectorAll("main *")]
        .filter(e => !e.closest(".box") && e.getBoundingClientRect().right > innerWidth + 1 && e.checkVisibility())
        .slice(0, 5).map(e => `${e.tagName}.${e.className?.baseVal ?? e.className}`).join(" ")"""
    wide = page.run("document.documentElement.scrollWidth - innerWidth")
    return f"{wide} {page.run(script)}" if wide > 0 else ""


def test_nothing_is_complained_of_and_no_name_becomes_code(page: Page, address: str) -> None:
    page.open(address)
    assert page.run("document.querySelectorAll('table.heat tbody tr').length") >= 8
    assert (
        page.run("document.querySelectorAll('main > section').length") == 6
    )  # two formats, agents, battles, run, reading
    assert page.run("document.querySelectorAll('.ranking svg.whisker').length") == 8
    names = page.run("[...document.querySelectorAll('.ranking tbody .agent')].map(e => e.textContent)")
    assert set(names) == set(AGENTS.values())
    page.run(f"location.hash = 'battle-{first_battle(page)}'")
    page.until("!!document.querySelector('#viewer .av-events')")
    assert page.run("typeof hacked") == "undefined"
    assert page.complaints == []


def test_the_viewer_tells_a_battle_turn_by_turn(page: Page, address: str) -> None:
    page.open(address)
    battle_id = first_battle(page)
    page.open(f"{address}#battle-{battle_id}")
    # A battle is unpacked before it is drawn, and what was there before stays until then.
    text = "document.querySelector('#viewer').innerText"
    page.until(f"{text}.includes('battle {battle_id} ') && {text}.includes('sends out')")
    turns: list[str] = []  # which battle is the first depends on who ended first, and in its first turn both may switch
    while len(turns) < 5 and not any(" uses " in turn for turn in turns):
        page.run("[...document.querySelectorAll('#viewer button')].find(b => b.textContent.startsWith('Next')).click()")
        body = "document.querySelector('#viewer .av-body').textContent"
        page.until(f"{body}.startsWith('Turn {len(turns) + 1}')")
        turns.append(page.run(body))
    assert " uses " in turns[-1]
    page.open(f"{address}#battle-999999")
    page.until("document.querySelector('#viewer').innerText.includes('arena watch 999999')")


def test_the_arrow_keys_turn_the_pages_of_a_battle_from_the_first_moment(page: Page, address: str) -> None:
    page.open(address)
    page.open(f"{address}#battle-{first_battle(page)}")
    page.until("!!document.querySelector('#viewer .av-place')")
    place, focus = "document.querySelector('#viewer .av-place').textContent", "document.activeElement.className"
    page.until(f"{focus} === 'av'")
    assert page.run(place).startswith("Start")
    page.press("ArrowRight", 39)
    assert page.run(place).startswith("Turn 1 ")
    page.press("ArrowLeft", 37)
    assert page.run(place).startswith("Start")
    # At either end the button that was pressed is disabled, and takes nothing with it.
    page.run("[...document.querySelectorAll('#viewer button')].find(b => b.textContent.startsWith('Next')).focus()")
    page.press("End", 35)
    last = page.run(place)
    page.press("ArrowLeft", 37)
    assert page.run(place) != last


def test_battles_are_found_by_filters_and_words(page: Page, address: str) -> None:
    page.open(address)
    count = "document.querySelectorAll('#battle-rows tr').length"
    assert page.run(count) == 8
    agent = AGENTS["random"]
    index = "JSON.parse(document.getElementById('battle-index').textContent)"
    expected = f"{index}.filter(battle => battle.includes({json.dumps(agent)})).length"
    page.open(f"{address}#agent={agent.replace(' ', '%20').replace(chr(34), '%22').replace('<', '%3C')}")
    assert page.run("document.querySelector('#battle-filters').elements.agent.value") == agent
    assert 0 < page.run(count) == page.run(expected) < 8

    def choose(name: str, value: str) -> None:
        page.run(
            f"""(() => {{
                const form = document.querySelector('#battle-filters');
                form.reset();
                form.elements[{name!r}].value = {value!r};
                form.dispatchEvent(new Event('input'));
            }})()"""
        )

    page.open(address)
    choose("fault", "any failure")
    assert page.run(count) == 1
    choose("format", "gen9ou")
    assert page.run("[...document.querySelectorAll('#battle-rows tr')].every(r => r.innerText.includes('gen9ou'))")
    choose("words", "no such battle")
    assert page.run(count) == 0


def test_the_heat_table_speaks_to_the_keyboard(page: Page, address: str) -> None:
    page.open(address)
    page.run("document.querySelector('table.heat[data-kind=against] td[tabindex=\"0\"]').focus()")
    first = page.run("document.querySelector('#tip').innerText")
    assert " won, " in first and "95% interval" in first
    page.press("ArrowDown", 40)
    page.press("ArrowRight", 39)
    page.press("ArrowRight", 39)
    after = page.run("document.querySelector('#tip').innerText")
    assert after != first and not page.run("document.querySelector('#tip').hidden")
    assert page.run("document.activeElement.getAttribute('aria-label')") == after
    page.press("Escape", 27)
    assert page.run("document.querySelector('#tip').hidden")


def test_a_phone_is_wide_enough_in_light_and_dark(page: Page, address: str) -> None:
    page.open(address)
    battle_id = first_battle(page)
    for dark in (False, True):
        page.open(f"{address}#battle-{battle_id}", width=390, height=844, dark=dark)
        page.until("!!document.querySelector('#viewer .av-events')")
        page.run("document.querySelectorAll('details').forEach(d => { d.open = true })")
        assert overflow(page) == ""
    page.open(address, width=1280)
    page.run("document.querySelectorAll('details').forEach(d => { d.open = true })")
    assert overflow(page) == ""


@pytest.mark.slow
def test_four_pokemon_are_on_the_field_of_doubles_and_nothing_is_cut(
    page: Page, played_doubles: Path, tmp_path: Path
) -> None:
    """At the width of a desk and of a phone, at every turn."""
    ((run_id, battle_id),) = rows(
        "SELECT run_id, min(battle_id) FROM battles WHERE format LIKE 'gen9champions%' GROUP BY run_id", played_doubles
    )
    path = tmp_path / "doubles.html"
    path.write_text(render(summarize(played_doubles, run_id), played_doubles, battles=2), encoding="utf-8")
    cut = "e => e.scrollWidth > e.clientWidth + 1 && !['INPUT', 'SPAN', 'STRONG'].includes(e.tagName)"
    parts = ".av-side :is(.av-name, .av-share, .av-bar, .av-chips li)"
    collide = f"""(() => {{
        const boxes = [...document.querySelectorAll('{parts}')].map(e => [e.textContent, e.getBoundingClientRect()]);
        return boxes.flatMap(([one, a], i) => boxes.slice(i + 1).filter(([, b]) => a.right > b.left + 1
            && b.right > a.left + 1 && a.bottom > b.top + 1 && b.bottom > a.top + 1)
            .map(([other]) => `${{one}} | ${{other}}`));
    }})()"""
    for width in (1280, 390):
        page.open(f"{path.as_uri()}#battle-{battle_id}", width=width, height=844)
        page.until("!!document.querySelector('#viewer .av-events')")
        seen = 0
        for turn in range(page.run("Number(document.querySelector('#viewer .av-slider').max)") + 1):
            if turn:
                page.press("ArrowRight", 39)
            seen = max(seen, page.run("document.querySelectorAll('#viewer .av-active').length"))
            assert (width, turn, overflow(page)) == (width, turn, "")
            assert (width, turn, page.run(collide)) == (width, turn, [])
            wide = f"[...document.querySelectorAll('#viewer :is(.av-side, .av-side *)')].filter({cut}).map(e => e.innerText)"
            assert (width, turn, page.run(wide)) == (width, turn, [])
        assert seen == 4
    assert page.complaints == []


def test_labels_do_not_collide_and_heads_do_not_break_inside_words(page: Page, address: str) -> None:
    script = (TESTS / "support" / "overlap.js").read_text(encoding="utf-8")
    lines = "e => e.getClientRects().length && e.offsetHeight / parseFloat(getComputedStyle(e).lineHeight)"
    for width in (360, 400, 900, 1100):
        page.open(address, width=width, height=844)
        page.run("document.querySelectorAll('details').forEach(d => { d.open = true })")
        assert (width, overflow(page)) == (width, "")
        assert (width, page.run(script)) == (width, [])
        broken = (
            f"[...document.querySelectorAll('.mixture thead th')].filter(e => ({lines})(e) > 1.9).map(e => e.innerText)"
        )
        assert (width, page.run(broken)) == (width, [])


def test_links_open_what_is_folded(page: Page, address: str) -> None:
    page.open(address)
    fold = "document.querySelector('#gen1ou-think > details.fold')"
    link = "document.querySelector('nav a[href=\"#gen1ou-think\"]').click()"
    assert not page.run(f"{fold}.open")
    for _ in range(2):  # the second time the address says so already
        page.run(link)
        page.until(f"{fold}.open")
        page.run(f"{fold}.open = false")
    page.open(f"{address}#run")
    assert page.run("document.querySelector('#run > details').open")
    assert page.run("document.querySelector('#run pre').checkVisibility()")
    assert not page.run(f"{fold}.open")


def test_light_and_dark_differ_and_can_be_chosen(page: Page, address: str) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    page.open(address, dark=False)
    light = page.run(paper)
    page.open(address, dark=True)
    dark = page.run(paper)
    assert light != dark
    page.run("document.getElementById('theme').click()")
    assert page.run(paper) == light and "light" in page.run("document.getElementById('theme').textContent")
    page.run("document.getElementById('theme').click()")
    assert page.run(paper) == dark


def test_words_stand_out_from_their_ground(page: Page, address: str) -> None:
    """WCAG's contrast of 4.5 for every text in sight, in both themes."""
    script = (TESTS / "support" / "contrast.js").read_text(encoding="utf-8")
    for dark in (False, True):
        page.open(address, dark=dark)
        page.run("document.querySelectorAll('details').forEach(d => { d.open = true })")
        assert page.run(script) == []


def test_without_script_everything_but_the_viewer_is_there(page: Page, address: str) -> None:
    page.open(address, script=False)
    page.send("Emulation.setScriptExecutionDisabled", value=False)  # only so that the page can be asked
    assert page.run("document.querySelector('.no-script').checkVisibility()")
    assert not page.run("document.querySelector('#battle-filters').checkVisibility()")
    assert page.run("document.querySelector('table.heat td[title]').title.includes('won')")


@pytest.mark.slow
def test_paper_gets_everything_opened(page: Page, address: str, tmp_path: Path) -> None:
    page.open(address)
    page.paper(tmp_path / "report.pdf")
    assert (tmp_path / "report.pdf").read_bytes().count(b"/Type /Page\n") > 5
    assert page.run("document.querySelectorAll('main details[open]').length") == 0, "closed again afterwards"
