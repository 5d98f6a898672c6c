/* Training runs: their curves laid over each other, a panel for each metric, and a table of where each run is. */
"use strict";

Dash.training = (() => {
  const {make, draw, whole, ago, ticks} = Dash;
  const place = document.getElementById("training");
  const COLOURS = 10, SHOWN_AT_FIRST = 4, LEFT = 52, BELOW = 22, ABOVE = 8, HEIGHT = 210;
  /* Title -> the metrics of a panel that is there from the beginning, by what it ends in; the second is drawn dashed. */
  const PANELS = {
    "Loss": ["loss", "validation/loss"],
    "Policy loss": ["policy_loss", "validation/policy_loss"],
    "Accuracy": ["agreement", "validation/agreement"],
    "Rating of checkpoints (Elo)": ["*/elo"],
    "Score of checkpoints": ["*/score"],
    "Mean result of battles": ["raw_return"],
  };
  /* Columns of the table, those that a run has: title, metric. */
  const COLUMNS = [
    ["loss", "loss"], ["held-out loss", "validation/loss"], ["policy loss", "policy_loss"], ["held-out policy loss", "validation/policy_loss"],
    ["accuracy", "agreement"], ["held-out accuracy", "validation/agreement"], ["Elo", "*/elo"],
    ["score", "*/score"],
  ];
  let runs = new Map(), extra = "", cursor = null;
  const chosen = new Map(), colours = new Map();

  const short = value => value === undefined ? "–" : Math.abs(value) >= 1000 ? whole(Math.round(value)) : String(Number(value.toPrecision(3))).replace("-", "−");
  const named = (name, pattern) => pattern.startsWith("*") ? name.endsWith(pattern.slice(1)) : name === pattern;
  const last = (run, pattern) => run.series[Object.keys(run.series).find(name => named(name, pattern))]?.[1].at(-1);

  function metricsOf(patterns) {
    const names = new Set([...runs.values()].flatMap(run => Object.keys(run.series)));
    return patterns.flatMap(pattern => [...names].filter(name => named(name, pattern)));
  }

  const visible = () => [...runs].filter(([name]) => chosen.get(name));

  function show(found) {
    runs = new Map([...found].sort(([, a], [, b]) => b.changed - a.changed));
    for (const name of runs.keys()) {
      if (!colours.has(name)) colours.set(name, colours.size % COLOURS);
      if (!chosen.has(name)) chosen.set(name, chosen.size < SHOWN_AT_FIRST || runs.get(name).live);
    }
    place.hidden = !runs.size;
    redraw();
  }

  function redraw() {
    if (place.hidden) return;
    const panels = Object.entries(PANELS).map(([title, patterns]) => [title, metricsOf(patterns)]).filter(([, names]) => names.length);
    if (extra) panels.push([extra, metricsOf([extra])]);
    const wide = (place.clientWidth || 900) > 700 ? (place.clientWidth - 32) / 2 : place.clientWidth || 340;
    const drawn = panels.map(([title, names]) => panel(title, names, Math.floor(wide)));
    const all = [...new Set([...runs.values()].flatMap(run => Object.keys(run.series)))].sort();
    draw(place, make("h2", {}, "Training runs"), table(),
      make("p", {class: "note"}, "Solid: training; dashed: held-out data. Arrow keys in a chart read its curves step by step."),
      make("div", {class: "charts"}, drawn),
      make("label", {class: "another"}, "Another metric ", make("select", {id: "another-metric"},
        make("option", {value: ""}, "none"), all.map(name => make("option", {value: name, selected: name === extra}, name)))));
  }

  function table() {
    const metrics = COLUMNS.filter(([, pattern]) => metricsOf([pattern]).length);
    const heads = [["", ""], ["run", ""], ["step", "number"], ...metrics.map(([title]) => [title, "number"]), ["last change", ""]];
    return make("div", {class: "box", tabindex: 0, role: "region", "aria-label": "training runs; scrolls sideways"},
      make("table", {class: "plain training-runs"},
        make("thead", {}, make("tr", {}, heads.map(([name, kind]) => make("th", {scope: "col", class: kind}, name)))),
        make("tbody", {}, [...runs].map(([name, run]) => make("tr", {"data-key": name},
          make("td", {class: `k${colours.get(name)}`}, make("input", {type: "checkbox", name, checked: chosen.get(name), "aria-label": `show ${name}`})),
          make("th", {scope: "row"}, name),
          make("td", {class: "number"}, whole(run.step)),
          metrics.map(([, pattern]) => make("td", {class: "number"}, short(last(run, pattern)))),
          make("td", {class: run.live ? "state-running" : ""}, run.live ? "in progress" : ago(run.changed)))))));
  }

  /** One chart. names: its metrics; all but the first of a run are dashed. */
  function panel(title, names, width) {
    const curves = visible().flatMap(([run, {series}]) => names.filter(name => series[name]).map(name => ({run, name, steps: series[name][0], values: series[name][1]})));
    const values = curves.flatMap(curve => curve.values), most = Math.max(1, ...curves.map(curve => curve.steps.at(-1)));
    if (!values.length) return make("figure", {class: "chart", "data-key": title}, make("figcaption", {}, title), make("p", {class: "note"}, "No curve of the chosen runs."));
    const marks = ticks(Math.min(...values), Math.max(...values), 4), across = ticks(0, most, 4).filter(step => step <= most);
    const x = step => LEFT + (width - LEFT - 10) * step / most;
    const y = value => ABOVE + (HEIGHT - ABOVE - BELOW) * (1 - (value - marks[0]) / (marks.at(-1) - marks[0] || 1));
    const drawn = curves.map(({run, name, steps, values: each}) => {
      const kind = `curve k${colours.get(run)}${name.startsWith("validation/") ? " held-out" : ""}`;
      const points = each.map((value, k) => `${x(steps[k]).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
      const dots = each.length <= 12 ? each.map((value, k) => make("circle", {class: kind, cx: x(steps[k]), cy: y(value), r: 2.5})) : null;
      return [make("polyline", {class: kind, points}), dots];
    });
    const at = cursor === null ? null : Math.min(Math.max(cursor, 0), most);
    const told = at === null ? curves.length === 1 ? "" : `${curves.length} curves` : readings(curves, at);
    return make("figure", {class: "chart", "data-key": title, "data-most": most},
      make("figcaption", {}, title),
      make("svg", {viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, tabindex: 0, role: "img", "aria-label": `${title}: ${readings(curves, at ?? most)}`},
        marks.map(mark => [make("line", {class: "tick", x1: LEFT, x2: width - 10, y1: y(mark), y2: y(mark)}), make("text", {x: LEFT - 6, y: y(mark) + 4, "text-anchor": "end"}, short(mark))]),
        across.map(step => make("text", {x: x(step), y: HEIGHT - 5, "text-anchor": "middle"}, step >= 1e6 ? `${step / 1e6}M` : step >= 1e4 ? `${step / 1e3}k` : whole(step))),
        drawn,
        at === null ? null : make("line", {class: "cursor", x1: x(at), x2: x(at), y1: ABOVE, y2: HEIGHT - BELOW})),
      make("p", {class: "note told"}, told));
  }

  /** The value of every curve at a step, in words. */
  function readings(curves, step) {
    const said = curves.map(({run, name, steps, values}) => {
      let k = steps.findLastIndex(each => each <= step);
      if (k < 0) k = 0;
      return `${run}${name.startsWith("validation/") ? " held out" : ""} ${short(values[k])}`;
    });
    return `step ${whole(Math.round(step))}: ${said.join(", ")}`;
  }

  place.addEventListener("change", event => {
    if (event.target.type === "checkbox") chosen.set(event.target.name, event.target.checked);
    else extra = event.target.value;
    redraw();
  });
  place.addEventListener("keydown", event => {
    const figure = event.target.closest?.("figure");
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!figure || (!step && !["Home", "End", "Escape"].includes(event.key))) return;
    event.preventDefault();
    const most = Number(figure.dataset.most);
    cursor = event.key === "Escape" ? null : event.key === "Home" ? 0 : event.key === "End" ? most : Math.min(most, Math.max(0, (cursor ?? (step > 0 ? 0 : most)) + step * most / 50));
    redraw();
  });
  let waiting = false;
  place.addEventListener("pointermove", event => {
    const svg = event.target.closest?.(".chart svg");
    if (!svg || waiting) return;
    const inside = (event.clientX - svg.getBoundingClientRect().left - LEFT) / (svg.clientWidth - LEFT - 10);
    cursor = Math.max(0, Math.min(1, inside)) * Number(svg.parentElement.dataset.most);
    waiting = true;
    requestAnimationFrame(() => { waiting = false; redraw(); });
  });
  place.addEventListener("pointerleave", () => { cursor = null; redraw(); });
  let width = 0;
  new ResizeObserver(() => { if (place.clientWidth !== width) { width = place.clientWidth; redraw(); } }).observe(place);

  return {show};
})();
