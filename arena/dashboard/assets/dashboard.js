/* The dashboard: the stream of changes, and which part is drawn when. */
"use strict";

(() => {
  const {make, draw, tournament, training, battles} = Dash;
  const byId = id => document.getElementById(id);
  const parts = new Map();
  let stream = null, opened = null, wanted = "", ready = false, changed = new Set(), lost = false;

  const wantedRun = () => /^#run=([\w.-]*)$/.exec(location.hash)?.[1];

  /** Opens the stream of the wanted run. It is closed while nobody sees the page: a hidden page costs nothing. */
  function connect() {
    if (stream && opened === wanted) return;
    stream?.close();
    opened = wanted;
    ready = false;
    const seen = new Set();
    stream = new EventSource(`events${wanted ? `?run=${encodeURIComponent(wanted)}` : ""}`);
    stream.addEventListener("open", () => { lost = false; seen.clear(); ready = false; });
    stream.addEventListener("error", () => { lost = true; showConnection(); });
    stream.addEventListener("message", event => {
      const {part, data} = JSON.parse(event.data);
      if (part === "ready") {  // what the server no longer has is of before it was started again
        for (const name of parts.keys()) if (!seen.has(name)) { parts.delete(name); changed.add(name); }
        ready = true;
      } else {
        seen.add(part);
        changed.add(part);
        if (data === null) parts.delete(part); else parts.set(part, data);
      }
      if (ready) requestAnimationFrame(show);
    });
  }

  function showConnection() {
    const {playing, database} = parts.get("live") ?? {};
    byId("connection").textContent = lost ? "No connection to the dashboard; trying again. The numbers below are the last known."
      : ready ? `${database} · ${playing ? "a run is being played" : "no run is being played"}` : "Connecting";
    byId("connection").classList.toggle("lost", lost);
  }

  /** Draws what has changed. */
  function show() {
    const now = changed;
    changed = new Set();
    if (!now.size && !lost) return;
    showConnection();
    const live = parts.get("live"), rows = parts.get("runs") ?? [], run = parts.get("run");
    const row = run && rows.find(each => each.id === run.id);
    if (live) {
      byId("problem").hidden = !live.problem;
      byId("problem").textContent = live.problem ?? "";
    }
    if (["live", "runs", "run"].some(name => now.has(name))) {
      // A run says nothing more of itself once the database has its end: its last words are older than that.
      const status = row?.status === "running" && live?.status?.run === row.id ? live.status : null;
      byId("title").textContent = row ? tournament.title(row) : ready ? (run === null && wanted ? `No run ${wanted}` : "No battles yet") : "Connecting";
      document.title = row ? `${row.status === "running" ? `${status?.done ?? row.battles} battles` : row.status} – ${tournament.title(row)}` : "Dashboard – battle arena";
      if (row) tournament.drawNow(row, run, status); else draw(byId("now"));
    }
    if (now.has("run")) {
      if (run) tournament.drawRanking(run); else byId("ranking").hidden = true;
      if (run) battles.follow(run.id, [...new Set(run.formats.flatMap(each => each.ranking.map(entry => entry.agent)))].sort(), run.latest);
    }
    if (now.has("runs") || now.has("run")) tournament.drawRuns(rows, run?.id, !wanted);
    if ([...now].some(name => name.startsWith("section "))) drawSections();
    if ([...now].some(name => name.startsWith("training "))) {
      training.show(new Map([...parts].filter(([name]) => name.startsWith("training ")).map(([name, data]) => [name.slice(9), data])));
    }
    drawContents();
  }

  /** Sections of extensions: made by the server, which escapes all names. */
  function drawSections() {
    const found = [...parts].filter(([name]) => name.startsWith("section ")).map(([, data]) => data);
    byId("section-styles").textContent = found.map(data => data.style).join("\n");
    draw(byId("sections"), found.map(data => {
      const holder = document.createElement("template");
      holder.innerHTML = data.html;
      return [...holder.content.childNodes];
    }));
  }

  function drawContents() {
    const places = [...document.querySelectorAll("main > section, #sections > section")].filter(each => !each.hidden && each.id && each.querySelector("h2"));
    draw(byId("contents"), places.map(each => make("li", {}, make("a", {href: `#${each.id}`}, each.querySelector("h2").textContent))));
  }

  function go() {
    const run = wantedRun();
    if (run !== undefined && run !== wanted) { wanted = run; connect(); scrollTo(0, 0); }
    const battle = /^#battle-(\d+)$/.exec(location.hash);
    if (battle) battles.watch(Number(battle[1]));
  }

  addEventListener("hashchange", go);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) connect();
    else { stream?.close(); stream = null; }
  });
  wanted = wantedRun() ?? "";
  connect();
  go();
})();
