/* Colours: as the system has them, or light, or dark; shared by the report and the dashboard. */
"use strict";

(() => {
  const root = document.documentElement;
  const themes = {"": "automatic", light: "light", dark: "dark"};
  const button = document.getElementById("theme");
  function show() {
    button.textContent = `Colours: ${themes[root.dataset.theme || ""]}`;
  }
  button.addEventListener("click", () => {
    const names = Object.keys(themes);
    root.dataset.theme = names[(names.indexOf(root.dataset.theme || "") + 1) % names.length];
    show();
    try { localStorage.setItem("arena-theme", root.dataset.theme); } catch { /* a file may have no storage */ }
  });
  try { root.dataset.theme = localStorage.getItem("arena-theme") ?? ""; } catch { /* kept for this visit only */ }
  show();
})();
