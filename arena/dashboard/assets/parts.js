/* What the dashboard's scripts share: elements, changing a drawn part in place, numbers as words.
   Whatever comes from a run is set as text, never as markup. */
"use strict";

window.Dash = (() => {
  const SVG = "http://www.w3.org/2000/svg";
  const SHAPES = new Set(["svg", "g", "line", "circle", "polyline", "rect", "text"]);

  /** An element with attributes and children (text or elements; null and false are left out). */
  function make(tag, attributes = {}, ...children) {
    const element = SHAPES.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== false && value !== undefined) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.flat(3).filter(child => child !== null && child !== false && child !== undefined));
    return element;
  }

  /** Makes `old` look like `fresh`, keeping its elements where they match: focus, selection, scrolling and listeners stay. */
  function morph(old, fresh) {
    for (const {name} of [...old.attributes]) {
      if (!fresh.hasAttribute(name) && name !== "open") old.removeAttribute(name);
    }
    for (const {name, value} of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    const now = [...old.childNodes], wanted = [...fresh.childNodes];
    wanted.forEach((child, place) => {
      const known = now[place];
      if (!known) old.append(child);
      else if (known.nodeType !== child.nodeType || known.nodeName !== child.nodeName || keyOf(known) !== keyOf(child)) known.replaceWith(child);
      else if (child.nodeType === Node.TEXT_NODE) { if (known.data !== child.data) known.data = child.data; }
      else morph(known, child);
    });
    for (const rest of now.slice(wanted.length)) rest.remove();
  }
  const keyOf = node => node.dataset?.key;

  /** Draws children into an element that keeps its own attributes. */
  function draw(element, ...children) {
    const fresh = element.cloneNode(false);
    fresh.append(...children.flat(3).filter(child => child !== null && child !== false && child !== undefined));
    morph(element, fresh);
  }

  /** An agent's name, with its family (heuristic:) in a quieter colour. */
  function agentName(spec) {
    const colon = spec.indexOf(":");
    if (colon < 0) return make("span", {class: "agent"}, spec);
    return make("span", {class: "agent"}, make("span", {class: "family"}, spec.slice(0, colon + 1)), make("wbr"), spec.slice(colon + 1));
  }

  const whole = number => number.toLocaleString("en").replace("-", "−");
  const counted = (number, noun) => `${whole(number)} ${noun}${number === 1 ? "" : "s"}`;

  /** A duration in words: "1 h 05 min", "3 min 20 s", "12 s". */
  function spoken(seconds) {
    if (seconds === null || seconds === undefined || !isFinite(seconds)) return "–";
    const all = Math.round(seconds);
    if (all >= 172800) return `${Math.floor(all / 86400)} days`;
    if (all >= 3600) return `${Math.floor(all / 3600)} h ${String(Math.floor(all % 3600 / 60)).padStart(2, "0")} min`;
    return all >= 60 ? `${Math.floor(all / 60)} min ${String(all % 60).padStart(2, "0")} s` : `${all} s`;
  }
  const moment = unix => new Date(1000 * unix).toLocaleString("en-GB", {day: "numeric", month: "short", hour: "2-digit", minute: "2-digit"});
  const ago = unix => `${spoken(Math.max(0, Date.now() / 1000 - unix)).replace(/ \d+ s$/, "")} ago`;

  /** About `count` round numbers that cover [low, high]. */
  function ticks(low, high, count) {
    const span = high - low || Math.abs(high) || 1;
    const raw = span / count, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 2.5, 5, 10].map(each => each * power).find(each => each >= raw * 0.999);
    const found = [];
    for (let k = Math.floor(low / step + 1e-9); k * step < high + step * 0.999; k += 1) found.push(Number((k * step).toPrecision(12)));
    return found;
  }

  /** Arrow keys move between the cells of a table; one cell can be reached by Tab. say(cell): called where one gets the focus. */
  function roving(table, say) {
    const moves = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]};
    const cellOf = event => event.target.closest?.("tbody td");
    table.addEventListener("focusin", event => cellOf(event) && say(cellOf(event)));
    table.addEventListener("mouseover", event => cellOf(event) && say(cellOf(event)));
    table.addEventListener("keydown", event => {
      const step = moves[event.key], cell = cellOf(event);
      if (!step || !cell) return;
      event.preventDefault();
      const next = table.tBodies[0].rows[cell.parentElement.sectionRowIndex + step[0]]?.cells[cell.cellIndex + step[1]];
      if (next?.tagName === "TD") next.focus();
    });
  }

  return {make, draw, agentName, whole, counted, spoken, moment, ago, ticks, roving};
})();
