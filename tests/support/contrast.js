/* The texts of the page whose contrast with what lies behind them is below 4.5, as WCAG 2.1 computes it. */
(() => {
  const context = Object.assign(document.createElement("canvas"), {width: 1, height: 1})
    .getContext("2d", {willReadFrequently: true});
  function rgba(colour) {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  }
  function luminance([r, g, b]) {
    const [x, y, z] = [r, g, b].map(c => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  }
  function ground(element) {
    for (let each = element; each; each = each.parentElement) {
      const colour = rgba(getComputedStyle(each).backgroundColor);
      if (colour[3] === 255) return colour;
    }
    return [255, 255, 255];
  }
  const poor = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !element.checkVisibility({visibilityProperty: true})) continue;
    if (element.closest("script, style, option, :disabled")) continue;
    const style = getComputedStyle(element);
    const ink = rgba(element.ownerSVGElement ? style.fill : style.color);
    const [light, dark] = [luminance(ink), luminance(ground(element))].sort((a, b) => b - a);
    if ((light + 0.05) / (dark + 0.05) < 4.5) {
      poor.add(`${element.tagName}.${element.className?.baseVal ?? element.className}: ${walker.currentNode.textContent.slice(0, 20)}`);
    }
  }
  return [...poor].slice(0, 10);
})()
