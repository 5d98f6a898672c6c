/* Finished battles: the list, fetched when it is asked for, and the report's viewer. */
"use strict";

Dash.battles = (() => {
  const {make, draw, whole, counted} = Dash;
  const byId = id => document.getElementById(id);
  const form = byId("battle-filters"), rows = byId("battle-rows"), more = byId("more-battles");
  let run = null, found = [], latest = 0, asked = 0;

  function result([, , , , , winner, reason, fault]) {
    const ends = {win: `${winner} wins`, tie: "tie", "turn-limit": "turn limit", aborted: "aborted"};
    return ends[reason] ?? `${fault}: ${reason}`;
  }

  function line(battle) {
    const [id, format, teams, p1, p2, winner, , , turns] = battle;
    return make("tr", {"data-key": id},
      make("td", {class: "number"}, make("a", {href: `#battle-${id}`}, String(id))),
      make("td", {class: winner === "p1" ? "won" : ""}, p1), make("td", {class: winner === "p2" ? "won" : ""}, p2),
      make("td", {}, result(battle)), make("td", {class: "number"}, whole(turns)), make("td", {}, format), make("td", {}, teams));
  }

  async function get(address) {
    try {
      const answer = await fetch(address);
      return await answer.json();
    } catch {
      return {problem: "the dashboard does not answer: start it again with `arena dashboard`"};
    }
  }

  /** Lists the battles of the run anew, or those after the ones that are listed. */
  async function list(further = false) {
    const number = ++asked;
    const query = new URLSearchParams({run, ...Object.fromEntries(new FormData(form))});
    if (further) query.set("before", found.at(-1)[0]);
    const said = await get(`battles?${query}`);
    if (number !== asked) return;
    if (said.problem) { byId("battle-count").textContent = said.problem; return; }
    found = further ? [...found, ...said.battles] : said.battles;
    draw(rows, found.map(line));
    more.hidden = !said.more;
    byId("battle-count").textContent = `${counted(found.length, "battle")}, the latest first`;
    if (!further) note(Math.max(latest, found[0]?.[0] ?? 0), true);
  }

  /** Says in the button that there are newer battles; the list does not move under the reader. */
  function note(newest, listed = false) {
    latest = newest;
    const newer = latest > (found[0]?.[0] ?? 0) && !listed;
    byId("newer").textContent = newer ? "Show newer battles" : "Reload";
    byId("newer").classList.toggle("primary", newer);
  }

  /** The run that is shown, its agents, its latest battle. */
  function follow(id, agents, newest) {
    byId("battles").hidden = !newest;
    const select = form.elements.agent, before = select.value;
    const names = ["", ...agents];
    if ([...select.options].map(option => option.value).join("\n") !== names.join("\n")) {
      select.replaceChildren(...names.map(name => new Option(name || "any", name)));
      select.value = names.includes(before) ? before : "";
    }
    if (id !== run) { run = id; latest = newest ?? 0; found = []; if (newest) list(); }
    else if (newest && !found.length && newest !== latest) { latest = newest; list(); }
    else if (newest) note(newest, newest === (found[0]?.[0] ?? 0));
  }

  async function watch(id) {
    const viewer = byId("viewer"), body = make("div"), bar = make("p", {class: "viewer-bar"});
    const place = found.findIndex(each => each[0] === id);
    for (const [words, other] of [["← newer", found[place - 1]], ["older →", found[place + 1]]]) {
      if (place >= 0 && other) bar.append(make("a", {href: `#battle-${other[0]}`}, words));
    }
    const close = make("button", {type: "button"}, "Close");
    close.addEventListener("click", () => { viewer.hidden = true; location.hash = "battles"; });
    bar.append(close);
    byId("battles").hidden = viewer.hidden = false;
    const story = await get(`battle/${id}`);
    viewer.replaceChildren(bar, body);
    if (story.problem) body.textContent = story.problem;
    else window.ArenaViewer.show(body, story);
    viewer.scrollIntoView();
    (body.querySelector(".av") ?? viewer).focus({preventScroll: true});
  }

  form.addEventListener("input", () => list());
  form.addEventListener("submit", event => event.preventDefault());
  byId("newer").addEventListener("click", () => list());
  more.addEventListener("click", () => list(true));
  return {follow, watch};
})();
