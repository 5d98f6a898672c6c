/* The battle viewer. ArenaViewer.show(element, story) draws a story (its shape: arena/report/story.py) into an element.
   Whatever comes from a battle is set as text, never as markup: an agent's name or diagnostics may contain any text. */
"use strict";

window.ArenaViewer = (() => {
  const SEATS = ["p1", "p2"];
  // Up to so many other choices are all shown; of more (a team preview has 360) the first, and the rest is folded.
  const MOST_SHOWN = 60, FIRST_SHOWN = 20;

  /** An element: its class, what stands in it (text or elements; null is left out), its attributes. */
  function make(tag, className, children = [], attributes = {}) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...[children].flat().filter(child => child !== null));
    return element;
  }

  /** Rounded, but 0% and 100% are said only of nothing and of all. */
  function percent(share) {
    if (share > 0 && share < 0.01) return "<1%";
    return `${share < 1 ? Math.min(99, Math.round(100 * share)) : 100}%`;
  }

  const turnName = number => (number === 0 ? "Start" : `Turn ${number}`);
  const signed = number => (number > 0 ? `+${number}` : `−${-number}`);

  /** A Pokémon of a side as it stands in a state: name, hp, most, status, and so on. */
  function pokemonAt(story, seat, state, index) {
    const side = state[seat];
    const [name, usual] = story.seats[seat].pokemon[index];
    return {
      name,
      hp: side.hp[index] ?? usual,
      most: side.most?.[index] ?? usual,
      status: side.status?.[index],
      tera: side.tera?.[index],
    };
  }

  /** Its HP as a bar; what it loses within the turn is hatched. The numbers stand beside it, so it says nothing aloud. */
  function hpBar(now, after) {
    const share = now.hp / now.most;
    const left = Math.min(share, after.hp / after.most);
    const level = share > 0.5 ? "good" : share > 0.2 ? "warn" : "bad";
    const bar = make("div", `av-bar av-${level}`, [make("i", "av-left"), make("i", "av-lost")], {"aria-hidden": "true"});
    bar.children[0].style.width = `${100 * left}%`;
    bar.children[1].style.width = `${100 * (share - left)}%`;
    return bar;
  }

  function marks(pokemon) {
    return [pokemon.status, pokemon.tera && `Tera ${pokemon.tera}`].filter(Boolean);
  }

  function chips(texts) {
    return texts.length ? make("ul", "av-chips", texts.map(text => make("li", "", text))) : null;
  }

  /** A Pokémon on the field. slot: the side's state, or in doubles that of its second place. */
  function activePanel(story, seat, state, next, slot) {
    const now = pokemonAt(story, seat, state, slot.active);
    const after = pokemonAt(story, seat, next, slot.active);
    const share = now.hp === 0 ? "fainted" : percent(now.hp / now.most);
    const shareAfter = percent(after.hp / after.most);
    const same = now.most === after.most ? after.hp === now.hp : shareAfter === share; // Dynamax doubles both
    const change = same ? "" : ` → ${after.hp === 0 ? "fainted" : shareAfter}`;
    const boosts = Object.entries(slot.boosts ?? {}).map(([stat, amount]) => `${stat} ${signed(amount)}`);
    return make("div", "av-active", [
      make("div", "av-line", [make("strong", "av-name", now.name), make("span", "av-share", share + change)]),
      hpBar(now, after),
      make("div", "av-line av-muted", [make("span", "", `${now.hp} of ${now.most} HP`)]),
      chips([...marks(now), ...boosts, ...(slot.effects ?? [])]),
    ]);
  }

  function benchRow(story, seat, state, next, index) {
    const now = pokemonAt(story, seat, state, index);
    const words = now.hp === 0 ? "fainted" : [percent(now.hp / now.most), ...marks(now)].join(", ");
    return make("li", now.hp === 0 ? "av-fainted" : "", [
      make("span", "av-name", now.name),
      hpBar(now, pokemonAt(story, seat, next, index)),
      make("span", "av-share", words),
    ]);
  }

  function sidePanel(story, seat, state, next) {
    const {agent, team, pokemon} = story.seats[seat];
    const {beside, layers} = state[seat];
    const out = [state[seat], beside].filter(slot => slot?.active !== undefined);
    const bench = pokemon.map((_, index) => index).filter(index => !out.some(slot => slot.active === index));
    return make("section", "av-side", [
      make("h4", "", [make("span", "av-seat", seat), make("span", "av-agent", agent)]),
      team ? make("p", "av-muted av-team", `team ${team}`) : null,
      ...out.map(slot => activePanel(story, seat, state, next, slot)),
      make("ul", "av-bench", bench.map(index => benchRow(story, seat, state, next, index)), {"aria-label": "rest of the team"}),
      layers ? make("p", "av-layers", [make("span", "av-muted", "on this side: "), layers.join(", ")]) : null,
    ]);
  }

  function eventList(turn) {
    const rows = turn.events.map(([seat, words]) =>
      make("li", seat ? `av-of-${seat}` : "", [make("span", "av-seat", seat || "–"), make("span", "", words)]));
    return rows.length ? make("ol", "av-events", rows) : make("p", "av-muted", "Nothing happened.");
  }

  function shownNumber(value) {
    return (Number.isInteger(value) ? value.toLocaleString("en") : String(value)).replace("-", "−");
  }

  /** A number with a bar from zero, which lies where the smallest and greatest number of its table put it. */
  function numberCell(value, row) {
    if (value === null) return make("td", "av-number", "");
    const numbers = row.filter(number => number !== null);
    const low = Math.min(0, ...numbers), high = Math.max(0, ...numbers);
    const span = high - low || 1;
    const fill = make("i", value < 0 ? "av-negative" : "");
    fill.style.left = `${100 * (Math.min(value, 0) - low) / span}%`;
    fill.style.width = `${100 * Math.abs(value) / span}%`;
    return make("td", "av-number", [
      make("span", "av-scale", fill, {"aria-hidden": "true"}),
      make("span", "", shownNumber(value)),
    ]);
  }

  function choiceTable(story, decision) {
    const {name, choices} = story.seats[decision.seat];
    const tables = Object.entries(decision.tables ?? {});
    // An order of the whole team may be chosen that is no item of the list.
    const listed = decision.legal.includes(decision.choice) ? decision.legal : [...decision.legal, decision.choice];
    const rows = listed.map((number, place) => {
      const chosen = number === decision.choice;
      return make("tr", chosen ? "av-chosen" : "", [
        make("th", "", [
          make("span", "av-mark", chosen ? "▶" : "", {"aria-hidden": "true"}),
          make("span", "", choices[number][1]),
          chosen ? make("span", "av-tag", "chosen") : null,
        ], {scope: "row"}),
        ...tables.map(([, row]) => numberCell(row[place] ?? null, row)),
      ]);
    });
    let others = 0;
    const last = listed.length - 1 > MOST_SHOWN ? FIRST_SHOWN : MOST_SHOWN;
    const folds = listed.map(number => number !== decision.choice && ++others > last);
    const shown = rows.filter((_, place) => !folds[place]);
    const folded = rows.filter((_, place) => folds[place]);
    const number = `${decision.legal.length} choices${decision.joint ? " of both slots" : ""}`;
    const what = decision.forced ? "replacement" : decision.legal.length === 1 ? "only choice" : number;
    const head = tables.length
      ? make("thead", "", make("tr", "", ["choice", ...tables.map(([title]) => title)]
          .map(title => make("th", "", title, {scope: "col"}))))
      : null;
    return make("div", "av-decision", [
      make("div", "av-scroll", [make("table", "", [
        make("caption", "", [
          make("span", "av-seat", decision.seat), make("span", "av-agent", name),
          make("span", "av-muted", ` ${what}, ${decision.ms.toLocaleString("en")} ms`),
        ]),
        head,
        make("tbody", "", shown),
      ]), folded.length
        ? make("details", "av-more", [
          make("summary", "", `and ${folded.length} more`),
          make("table", "", [head?.cloneNode(true) ?? null, make("tbody", "", folded)]),
        ])
        : null]),
      decision.texts
        ? make("dl", "av-texts", decision.texts.flatMap(([title, text]) => [make("dt", "", title || "diagnostics"), make("dd", "", text)]))
        : null,
    ]);
  }

  /** Whether the tables of choices are too wide to stand side by side. */
  function roomy(story) {
    return story.turns.some(turn => turn.decisions.some(decision => Object.keys(decision.tables ?? {}).length > 2));
  }

  function choices(story, seat, turn) {
    const made = turn.decisions.filter(decision => decision.seat === seat);
    const words = seat in story.unseen ? "'s choices are unknown" : " made no choice in this turn";
    const none = make("p", "av-decision", [make("span", "av-seat", seat), make("span", "av-muted", words)]);
    return make("div", "", made.length ? made.map(decision => choiceTable(story, decision)) : none);
  }

  function turnSection(story, index) {
    const turn = story.turns[index];
    const next = story.turns[index + 1]?.state ?? story.end;
    const field = turn.state.field;
    return make("section", "av-turn", [
      make("h3", "", turnName(turn.turn)),
      field ? make("p", "av-field", [make("span", "av-muted", "on the field: "), field.join(", ")]) : null,
      make("div", "av-pair", SEATS.map(seat => sidePanel(story, seat, turn.state, next))),
      eventList(turn),
      turn.decisions.length === 0 ? null : make("div", roomy(story) ? "av-stack" : "av-pair", SEATS.map(seat => choices(story, seat, turn))),
    ]);
  }

  function header(story) {
    const {p1, p2} = story.seats;
    const facts = [`battle ${story.id}`, story.format, `${story.team_set} teams`, `${story.length} ${story.length === 1 ? "turn" : "turns"}`];
    return make("header", "av-head", [
      make("h2", "", [p1.agent, make("span", "av-muted", " against "), p2.agent]),
      make("p", "av-muted", facts.join(" · ")),
      make("p", story.fault ? "av-result av-failed" : "av-result", story.result),
      story.detail ? make("p", "av-muted av-detail", story.detail) : null,
      ...Object.values(story.unseen).map(words => make("p", "av-muted", words)),
    ]);
  }

  /** Draws the story into the element, in place of what was there; its first turn, or that of `turn`. */
  function show(element, story, turn = 0) {
    const root = make("article", "av", header(story), {tabindex: "0", "aria-label": `Battle ${story.id}`});
    element.replaceChildren(root);
    const last = story.turns.length - 1;
    if (last < 0) {
      root.append(make("p", "av-muted", "This battle has no log, so there are no turns to show."));
      return;
    }
    const slider = make("input", "av-slider", [], {type: "range", min: "0", max: String(last), step: "1", "aria-label": "turn"});
    const back = make("button", "", "‹ Previous", {type: "button"});
    const forth = make("button", "", "Next ›", {type: "button"});
    const place = make("output", "av-place");
    const all = make("input", "", [], {type: "checkbox"});
    const spoken = make("p", "av-unseen", [], {"aria-live": "polite"});
    const body = make("div", "av-body");
    root.append(
      make("div", "av-controls", [back, slider, forth, place, make("label", "", [all, "all turns"])],
        {role: "group", "aria-label": "turns"}),
      spoken, body);
    let current = Math.min(Math.max(turn, 0), last);

    function draw() {
      const name = `${turnName(story.turns[current].turn)} of ${story.length}`;
      slider.value = String(current);
      slider.setAttribute("aria-valuetext", name);
      place.textContent = name;
      for (const control of [slider, back, forth]) control.disabled = all.checked;
      back.disabled ||= current === 0;
      forth.disabled ||= current === last;
      // A button that has the focus and can no longer be pressed would take the keys with it.
      if (document.activeElement?.disabled && root.contains(document.activeElement)) root.focus({preventScroll: true});
      body.replaceChildren(...(all.checked ? story.turns.map((_, index) => turnSection(story, index)) : [turnSection(story, current)]));
    }

    function go(index) {
      if (all.checked || index === current || index < 0 || index > last) return;
      current = index;
      draw();
      spoken.textContent = [turnName(story.turns[current].turn), ...story.turns[current].events.map(([, words]) => words)].join(". ");
    }

    back.addEventListener("click", () => go(current - 1));
    forth.addEventListener("click", () => go(current + 1));
    slider.addEventListener("input", () => go(Number(slider.value)));
    all.addEventListener("change", draw);
    root.addEventListener("keydown", event => {
      if (event.target === slider || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const target = {ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: last}[event.key];
      if (target === undefined || all.checked) return;
      event.preventDefault();
      go(target);
    });
    draw();
  }

  return {show};
})();
