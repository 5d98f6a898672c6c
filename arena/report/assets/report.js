/* The page's script: tooltips, moving in tables by keyboard, and finding battles. All numbers stand without it. */
"use strict";

(() => {
  const byId = id => document.getElementById(id);
  const root = document.documentElement;

  /* Tooltips of the heat tables: what a title says, in full words, for the pointer and the keyboard alike. */
  const tip = byId("tip");
  const names = element => element.textContent.replace(/^\d+(?=\D)/, "");
  function words(cell) {
    const table = cell.closest("table");
    const row = names(cell.parentElement.querySelector("th"));
    const column = table.tHead.rows[0].cells[cell.cellIndex].title;
    if (cell.classList.contains("none")) return `${row} against ${column}: no battles`;
    if (table.dataset.kind === "better") return `P(${row} is better than ${column}): ${cell.textContent}%`;
    return `${row} against ${column}: ${cell.textContent}%. ${cell.dataset.more}`;
  }
  let toldOf = null;
  function showTip(cell) {
    if (cell.classList.contains("self")) return hideTip();
    toldOf = cell;
    tip.textContent = words(cell);
    tip.hidden = false;
    const at = cell.getBoundingClientRect();
    const left = Math.min(Math.max(8, at.left + at.width / 2 - tip.offsetWidth / 2), root.clientWidth - tip.offsetWidth - 8);
    const above = at.top - tip.offsetHeight - 8;
    tip.style.left = `${left + scrollX}px`;
    tip.style.top = `${(above > 0 ? above : at.bottom + 8) + scrollY}px`;
  }
  function hideTip() {
    toldOf = null;
    tip.hidden = true;
  }
  const moves = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]};
  for (const table of document.querySelectorAll("table.heat")) {
    const rows = [...table.tBodies[0].rows].map(row => [...row.querySelectorAll("td")]);
    for (const cell of rows.flat()) {
      cell.dataset.more = cell.title;
      cell.removeAttribute("title");
      cell.tabIndex = -1;
    }
    const first = rows.flat().find(cell => !cell.classList.contains("self"));
    if (first) first.tabIndex = 0;
    table.addEventListener("mouseover", event => {
      const cell = event.target.closest("tbody td");
      if (cell) showTip(cell); else hideTip();
    });
    table.addEventListener("mouseleave", hideTip);
    table.addEventListener("focusin", event => {
      const cell = event.target.closest("tbody td");
      if (!cell) return;
      cell.setAttribute("aria-label", cell.classList.contains("self") ? "itself" : words(cell));
      showTip(cell);
    });
    table.addEventListener("focusout", hideTip);
    table.addEventListener("keydown", event => {
      if (event.key === "Escape") return hideTip();
      const step = moves[event.key];
      const cell = event.target.closest("tbody td");
      if (!step || !cell) return;
      const row = cell.parentElement.sectionRowIndex, column = cell.cellIndex - 1;
      const next = rows[row + step[0]]?.[column + step[1]];
      event.preventDefault();
      if (!next) return;
      cell.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    });
  }
  /* A cell that gets the focus may scroll into view: its tip goes with it. */
  const follow = () => toldOf && toldOf === document.activeElement ? showTip(toldOf) : hideTip();
  addEventListener("scroll", follow, {passive: true, capture: true});

  /* Parts that open: all at once, and on paper always. */
  const agentParts = [...document.querySelectorAll("#agents details")];
  byId("open-all")?.addEventListener("click", event => {
    const open = agentParts.some(part => !part.open);
    for (const part of agentParts) part.open = open;
    event.target.textContent = open ? "Close all" : "Open all";
  });
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("main details:not([open])")];
    for (const part of closed) part.open = true;
  });
  addEventListener("afterprint", () => {
    for (const part of closed) part.open = false;
  });

  /* Battles: the list, its filters, and the viewer. */
  const index = JSON.parse(byId("battle-index").textContent).map(
    ([id, format, teams, p1, p2, winner, reason, fault, turns, chunk]) =>
      ({id, format, teams, p1, p2, winner, reason, fault, turns, chunk}));
  const chunks = JSON.parse(byId("battle-chunks").textContent);
  const opened = new Map();
  const form = byId("battle-filters");
  const AT_ONCE = 40;
  let shown = AT_ONCE, found = index;

  /** The stories of a chunk, by id. */
  function open(number) {
    if (!opened.has(number)) {
      const bytes = Uint8Array.from(atob(chunks[number]), letter => letter.charCodeAt(0));
      const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
      opened.set(number, new Response(plain).json());
    }
    return opened.get(number);
  }

  /** How a battle went for an agent; for nobody in particular when no agent is given. */
  function outcome(battle, agent) {
    if (battle.winner === null) return battle.reason;
    return agent && battle[battle.winner] !== agent ? "loss" : "win";
  }
  function failure(battle) {
    return ["win", "tie"].includes(battle.reason) ? "none" : battle.reason;
  }
  function result(battle) {
    const ends = {win: `${battle.winner} wins`, tie: "tie", "turn-limit": "turn limit", aborted: "aborted"};
    return ends[battle.reason] ?? `${battle.fault}: ${battle.reason}`;
  }

  /** Whether a battle is what the filters ask for. */
  function fits(battle, wanted) {
    const {agent, opponent} = wanted;
    if (agent && battle.p1 !== agent && battle.p2 !== agent) return false;
    if (opponent && battle.p1 !== opponent && battle.p2 !== opponent) return false;
    if (wanted.format && battle.format !== wanted.format) return false;
    if (wanted.teams && battle.teams !== wanted.teams) return false;
    if (wanted.outcome && outcome(battle, agent) !== wanted.outcome) return false;
    if (wanted.fault && (wanted.fault === "any failure" ? failure(battle) === "none" : failure(battle) !== wanted.fault)) return false;
    const text = `${battle.id} ${battle.format} ${battle.teams} ${battle.p1} ${battle.p2} ${result(battle)}`.toLowerCase();
    return wanted.words.toLowerCase().split(/\s+/).every(word => text.includes(word));
  }

  function cell(content, className) {
    const element = document.createElement("td");
    element.append(content);
    if (className) element.className = className;
    return element;
  }
  function row(battle) {
    const line = document.createElement("tr");
    const link = document.createElement("a");
    link.href = `#battle-${battle.id}`;
    link.textContent = battle.id;
    line.append(cell(link, "number"),
      ...["p1", "p2"].map(seat => cell(battle[seat], battle.winner === seat ? "won" : "")),
      cell(result(battle)), cell(battle.turns, "number"), cell(battle.format), cell(battle.teams));
    return line;
  }
  function list() {
    const wanted = Object.fromEntries(new FormData(form));
    found = index.filter(battle => fits(battle, wanted));
    byId("battle-rows").replaceChildren(...found.slice(0, shown).map(row));
    byId("battle-count").textContent = found.length === index.length
      ? `${index.length.toLocaleString("en")} battles`
      : `${found.length.toLocaleString("en")} of ${index.length.toLocaleString("en")} battles`;
    byId("more-battles").hidden = found.length <= shown;
  }

  /** The page's filters, from what its battles have. */
  function fill(name, values) {
    const select = form.elements[name];
    for (const value of values) select.append(new Option(value, value));
  }
  const all = values => [...new Set(values)].sort();

  async function watch(id) {
    const battle = index.find(each => each.id === id);
    const viewer = byId("viewer");
    viewer.hidden = false;
    const body = document.createElement("div");
    const bar = document.createElement("p");
    bar.className = "viewer-bar";
    const neighbours = battle ? found.indexOf(battle) : -1;
    for (const [words, other] of [["← previous", found[neighbours - 1]], ["next →", found[neighbours + 1]]]) {
      if (neighbours < 0 || !other) continue;
      const link = document.createElement("a");
      link.href = `#battle-${other.id}`;
      link.textContent = words;
      bar.append(link);
    }
    const close = document.createElement("button");
    close.type = "button";
    close.textContent = "Close";
    close.addEventListener("click", () => { viewer.hidden = true; location.hash = "battles"; });
    bar.append(close);
    viewer.replaceChildren(bar, body);
    if (!battle) {
      body.textContent = `Battle ${id} is not included in this page. Show it with: arena watch ${id}`;
    } else if (typeof DecompressionStream === "undefined") {
      body.textContent = "This browser is too old to unpack battles (it has no DecompressionStream).";
    } else {
      window.ArenaViewer.show(body, (await open(battle.chunk))[id]);
    }
    viewer.scrollIntoView();
    // The battle listens to the arrow keys, so it has the focus from the beginning.
    (body.querySelector(".av") ?? viewer).focus({preventScroll: true});
  }

  /** Opens a part that is folded, and those around it, and goes there. */
  function unfold(part) {
    const folded = [part.matches("details") ? part : part.querySelector(":scope > details.fold")];
    for (let around = part.parentElement; around; around = around.parentElement) folded.push(around.closest("details"));
    const closed = folded.filter(each => each && !each.open);
    for (const each of closed) each.open = true;
    if (closed.length) part.scrollIntoView();
  }

  /** Goes where the address says: #battle-17, #agent=NAME (its battles), #agent-3 (its part, opened). */
  function go() {
    const place = decodeURIComponent(location.hash.slice(1));
    const battle = /^battle-(\d+)$/.exec(place);
    if (battle) return watch(Number(battle[1]));
    if (place.startsWith("agent=")) {
      form.reset();
      form.elements.agent.value = place.slice("agent=".length);
      list();
      byId("battles").scrollIntoView();
      return undefined;
    }
    const part = place && byId(place);
    if (part) unfold(part);
    return undefined;
  }

  if (form) {
    fill("agent", all(index.flatMap(({p1, p2}) => [p1, p2])));
    fill("opponent", all(index.flatMap(({p1, p2}) => [p1, p2])));
    fill("format", all(index.map(battle => battle.format)));
    fill("teams", all(index.map(battle => battle.teams)));
    fill("outcome", ["win", "loss", ...all(index.filter(battle => battle.winner === null).map(battle => battle.reason))]);
    fill("fault", ["none", "any failure", ...all(index.map(failure)).filter(name => name !== "none")]);
    const again = () => { shown = AT_ONCE; list(); };
    form.addEventListener("input", again);
    form.addEventListener("reset", () => setTimeout(again));
    form.addEventListener("submit", event => event.preventDefault());
    byId("more-battles").addEventListener("click", () => { shown += 5 * AT_ONCE; list(); });
    list();
  }
  addEventListener("hashchange", go);
  // A link to where the address points already changes nothing, but what it leads to may have been closed since.
  addEventListener("click", event => {
    const link = event.target.closest?.('a[href^="#"]');
    if (link && link.hash === location.hash) go();
  });
  go();
})();
