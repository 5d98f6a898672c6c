/* A run of battles: how far it is, its speed, the ranking with intervals, the pairings, faults. */
"use strict";

Dash.tournament = (() => {
  const {make, draw, agentName, whole, counted, spoken, moment, ago} = Dash;
  const byId = id => document.getElementById(id);
  const STATES = {running: "in progress", finished: "finished", stopped: "stopped", killed: "killed", "time limit": "time limit reached"};

  function title(row) {
    return `${counted(row.agents, "agent")} in ${row.formats.join(", ")}`;
  }

  /** A number with its name below. */
  function figure(name, value, more) {
    return make("div", {class: "figure"}, make("dt", {}, name), make("dd", {}, value, more && make("small", {}, ` ${more}`)));
  }

  /** The head of a run. row: its entry in the list; run: its details; status: what it says of itself, if it is played now. */
  function drawNow(row, run, status) {
    const total = status?.total ?? row.planned;
    const done = status ? status.done : row.battles;
    const left = status && status.speed > 0 && status.played > 0
      ? Math.min(total === null ? Infinity : (total - done) / status.speed, status.limit_left ?? Infinity) : null;
    const faults = run ? run.faults.filter(fault => fault.at_fault).reduce((sum, fault) => sum + fault.battles, 0) : 0;
    const recent = run?.speed?.battles_per_s.at(-1);
    const speed = status ? status.speed : run?.speed && run.speed.battles_per_s.reduce((a, b) => a + b, 0) / run.speed.battles_per_s.length;
    const bar = total ? make("progress", {max: total, value: done, "aria-label": "battles played"}) : null;
    const facts = [`run ${row.id}`, row.kind, STATES[row.status] ?? row.status, row.ended ? `ended ${moment(row.ended)}` : `started ${moment(row.started)}`];
    const nodes = Object.entries(status?.nodes ?? {});
    draw(byId("now"),
      make("p", {class: `facts state-${row.status.replace(" ", "-")}`}, facts.join(" · ")),
      bar,
      make("dl", {class: "figures"},
        figure("battles", whole(done), total ? `of ${whole(total)}` : null),
        figure("battles/s", speed ? speed.toFixed(1) : "–", status && recent !== undefined ? `${recent.toFixed(1)} lately` : null),
        row.status === "running" ? figure("time left", left === null || left === Infinity ? "–" : spoken(left)) : null,
        figure("faults", whole(faults), status?.aborted ? `${whole(status.aborted)} aborted` : null),
        nodes.length ? figure(nodes.length === 1 ? "machine" : "machines", nodes.length === 1 ? nodes[0][0] : whole(nodes.length), nodes.length === 1 ? nodes[0][1] : null) : null),
      run?.speed && run.speed.battles_per_s.length > 2 ? speedPicture(run.speed) : null,
      nodes.length > 1 ? make("ul", {class: "nodes"}, nodes.map(([name, words]) => make("li", {}, make("strong", {}, name), ` ${words}`))) : null,
      status?.remark ? make("p", {class: "note"}, status.remark) : null);
  }

  /** Battles/s since the run began, as an area. */
  function speedPicture({battles_per_s: speeds, width}) {
    const most = Math.max(...speeds, 1e-9), step = 600 / (speeds.length - 1);
    const points = speeds.map((value, place) => `${(place * step).toFixed(1)},${(56 - 52 * value / most).toFixed(1)}`).join(" ");
    const words = `battles/s over ${spoken(width * speeds.length)}, at most ${most.toFixed(1)}`;
    return make("figure", {class: "speed"},
      make("svg", {viewBox: "0 0 600 60", preserveAspectRatio: "none", role: "img", "aria-label": words},
        make("polyline", {class: "area", points: `0,58 ${points} 600,58`}), make("polyline", {class: "curve", points})),
      make("figcaption", {class: "note"}, words));
  }

  function drawRanking(run) {
    const place = byId("ranking");
    place.hidden = !run.formats.length;
    draw(place, make("h2", {}, "Ranking"),
      make("p", {class: "lead"}, "Interim ratings with rough 95% intervals; ", make("code", {}, "arena report"), " gives the final ones."),
      run.formats.map(format => [
        run.formats.length > 1 ? make("h3", {class: "format"}, format.format) : null,
        ranking(format, run.settings.anchor), pairings(format)]),
      run.faults.length ? faults(run.faults) : null);
    for (const table of place.querySelectorAll("table.heat")) listen(table);
  }

  function ranking(format, anchor) {
    const rows = format.ranking, rated = rows.filter(row => row.elo !== null);
    const low = Math.min(...rated.map(row => row.elo - row.margin)), high = Math.max(...rated.map(row => row.elo + row.margin));
    const marks = rated.length ? Dash.ticks(low, high, 4) : [0, 1];
    const at = elo => 100 * (elo - marks[0]) / (marks.at(-1) - marks[0]);
    const percent = number => `${Math.min(100, Math.max(0, number)).toFixed(2)}%`;
    const whisker = row => make("svg", {class: "whisker", width: "100%", height: 26, "aria-hidden": "true"},
      marks.map(mark => make("line", {class: "tick", x1: percent(at(mark)), x2: percent(at(mark)), y1: 0, y2: 26})),
      row.elo === null ? null : [
        make("line", {class: "reach", x1: percent(at(row.elo - row.margin)), x2: percent(at(row.elo + row.margin)), y1: 13, y2: 13}),
        make("circle", {class: "dot", cx: percent(at(row.elo)), cy: 13, r: 4.5})]);
    const axis = make("svg", {width: "100%", height: 14, "aria-hidden": "true"},
      marks.map((mark, k) => make("text", {x: percent(at(mark)), y: 11, "text-anchor": k === 0 ? "start" : k === marks.length - 1 ? "end" : "middle"}, whole(mark))));
    const body = rows.map((row, k) => make("tr", {},
      make("td", {class: "number rank"}, String(k + 1)),
      make("th", {scope: "row"}, agentName(row.agent)),
      make("td", {class: "picture"}, whisker(row)),
      make("td", {class: "number elo strong"}, row.elo === null ? "–" : whole(Math.round(row.elo))),
      make("td", {class: "number reach"}, row.elo === null ? "" : row.margin ? `[${whole(Math.round(row.elo - row.margin))}, ${whole(Math.round(row.elo + row.margin))}]` : "anchor"),
      make("td", {class: "number", "data-label": "battles"}, whole(row.battles)),
      make("td", {class: "number", "data-label": "win rate"}, `${Math.round(100 * row.score)}%`),
      make("td", {class: `number${row.faults ? " failed" : ""}`, "data-label": "faults"}, whole(row.faults))));
    const heads = [["#", "number rank"], ["agent", ""], [axis, "picture"], ["Elo", "number"], ["95% interval", "number"], ["battles", "number"], ["win rate", "number"], ["faults", "number"]];
    return make("table", {class: "ranking", "aria-label": `ranking in ${format.format}${anchor ? `; ${anchor} is fixed at 1000` : ""}`},
      make("thead", {}, make("tr", {}, heads.map(([name, kind]) => make("th", {scope: "col", class: kind}, name)))),
      make("tbody", {}, body));
  }

  /** Every agent (rows) against every other (columns), both in the order of the ranking. */
  function pairings(format) {
    const order = format.ranking.map(row => row.agent);
    const cells = new Map(format.pairings.map(([agent, opponent, ...numbers]) => [`${agent} ${opponent}`, numbers]));
    const cell = (agent, opponent) => {
      if (agent === opponent) return make("td", {class: "self", tabindex: -1, "data-words": ""});
      const found = cells.get(`${agent} ${opponent}`);
      if (!found) return make("td", {class: "none", tabindex: -1, "data-words": `${agent} against ${opponent}: no battles yet`}, "–");
      const [battles, score, low, high] = found;
      const words = `${agent} against ${opponent}: ${Math.round(100 * score)}% [${Math.round(100 * low)}, ${Math.round(100 * high)}] of ${counted(battles, "battle")}`;
      return make("td", {class: `h${Math.round(10 * score)}`, tabindex: -1, "data-words": words, "aria-label": words}, String(Math.round(100 * score)));
    };
    const table = make("table", {class: "heat", "data-kind": "pairings", "data-format": format.format},
      make("caption", {}, "Win rate of the row against the column, in %"),
      make("thead", {}, make("tr", {}, make("td"), order.map((agent, k) => make("th", {scope: "col", title: agent}, make("span", {}, `${k + 1} `, agentName(agent)))))),
      make("tbody", {}, order.map((agent, k) => make("tr", {}, make("th", {scope: "row"}, make("span", {class: "place"}, String(k + 1)), agentName(agent)), order.map(other => cell(agent, other))))));
    const first = table.querySelector("tbody td:not(.self)");
    if (first) first.tabIndex = 0;
    return make("div", {class: "part"}, make("h3", {}, "Pairings"),
      make("div", {class: "box", tabindex: 0, role: "region", "aria-label": "pairings; scrolls sideways"}, table),
      make("p", {class: "note told"}, wordsOf(table, pointed.get(format.format)) ?? "Choose a cell, by pointer or arrow keys, for its interval."));
  }

  /** format -> the cell that the reader has chosen, as row and column: its words stay when the table is drawn anew. */
  const pointed = new Map();
  const wordsOf = (table, at) => at && table.tBodies[0].rows[at[0]]?.cells[at[1]]?.dataset.words;

  const listening = new WeakSet();
  function listen(table) {
    if (listening.has(table)) return;
    listening.add(table);
    Dash.roving(table, cell => {
      if (!cell.dataset.words) return;
      pointed.set(table.dataset.format, [cell.parentElement.sectionRowIndex, cell.cellIndex]);
      table.closest(".part").querySelector(".told").textContent = cell.dataset.words;
    });
  }

  function faults(found) {
    return make("div", {class: "part", id: "faults"}, make("h3", {}, "Faults and battles without a winner"),
      make("div", {class: "box", tabindex: 0, role: "region", "aria-label": "faults; scrolls sideways"},
        make("table", {class: "plain"},
          make("thead", {}, make("tr", {}, ["agent", "kind", "battles", "latest", "what happened"].map(name => make("th", {scope: "col", class: name === "battles" ? "number" : ""}, name)))),
          make("tbody", {}, found.map(fault => make("tr", {},
            make("th", {scope: "row"}, agentName(fault.agent)), make("td", {}, fault.reason), make("td", {class: "number"}, whole(fault.battles)),
            make("td", {}, make("a", {href: `#battle-${fault.battle}`}, String(fault.battle))), make("td", {class: "words"}, (fault.detail || "").split("\n")[0].slice(0, 160))))))));
  }

  function drawRuns(rows, shown, followed) {
    const place = byId("runs");
    place.hidden = !rows.length;
    draw(place, make("h2", {}, "Runs"),
      make("p", {class: "lead"}, followed ? "The run in progress is shown, or the latest." : make("a", {href: "#run="}, "Show the run in progress, or the latest")),
      make("div", {class: "box", tabindex: 0, role: "region", "aria-label": "runs; scrolls sideways"},
        make("table", {class: "plain"},
          make("thead", {}, make("tr", {}, ["run", "kind", "state", "battles", "agents", "formats", "started"].map(name => make("th", {scope: "col", class: ["battles", "agents"].includes(name) ? "number" : ""}, name)))),
          make("tbody", {}, rows.map(row => make("tr", {"data-key": row.id},
            make("th", {scope: "row"}, make("a", {href: `#run=${row.id}`, "aria-current": row.id === shown ? "true" : null}, row.id)),
            make("td", {}, row.kind), make("td", {class: `state-${row.status.replace(" ", "-")}`}, STATES[row.status] ?? row.status),
            make("td", {class: "number"}, whole(row.battles)), make("td", {class: "number"}, whole(row.agents)),
            make("td", {}, row.formats.join(", ")), make("td", {}, ago(row.started))))))));
  }

  return {title, drawNow, drawRanking, drawRuns};
})();
