// Labels of pictures that stand on each other, as "picture: one | other".
(() => {
  const found = [];
  for (const svg of document.querySelectorAll("svg")) {
    const labels = [...svg.querySelectorAll("text")].filter(text => text.checkVisibility() && text.textContent.trim())
      .map(text => [text.textContent, text.getBoundingClientRect()]);
    labels.forEach(([one, a], place) => labels.slice(place + 1).forEach(([other, b]) => {
      const apart = a.right <= b.left + 1 || b.right <= a.left + 1 || a.bottom <= b.top + 2 || b.bottom <= a.top + 2;
      if (!apart) found.push(`${svg.getAttribute("class")}: ${one} | ${other}`);
    }));
  }
  return [...new Set(found)];
})()
