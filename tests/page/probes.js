// What the test asks the page; evaluated there, never part of it.
window.probes = {
  // Text whose contrast with what lies behind it is below `least`.
  weak_text(least) {
    const channels = (colour) => colour.match(/[\d.]+/g).map(Number);
    const luminance = (colour) => {
      const [r, g, b] = colour.slice(0, 3).map((c) => c / 255)
        .map((c) => (c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = (element) => {
      for (let e = element; e; e = e.parentElement) {
        const colour = channels(getComputedStyle(e).backgroundColor);
        if (colour.length === 3 || colour[3] > 0) return colour;
      }
      return [255, 255, 255];
    };
    const weak = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const element = walker.currentNode.parentElement;
      if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest("script, svg")) continue;
      const [a, b] = [luminance(channels(getComputedStyle(element).color)), luminance(behind(element))];
      const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      if (contrast < least) weak.push(`${walker.currentNode.data.trim().slice(0, 40)}: ${contrast.toFixed(2)}`);
    }
    return weak;
  },

  // The focused element in words, and whether its focus can be seen.
  focused() {
    const e = document.activeElement;
    const style = getComputedStyle(e);
    const name = e.getAttribute("aria-label") || e.textContent.trim().slice(0, 30) || e.dataset.choose || "";
    return { tag: e.tagName.toLowerCase(), name, seen: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0,
             y: e.getBoundingClientRect().top + scrollY };
  },

  // Controls without a name that a screen reader could say.
  nameless() {
    return [...document.querySelectorAll("button, select, input, a, [tabindex='0']")].filter((e) => {
      const label = e.closest("label");
      return !(e.getAttribute("aria-label") || e.textContent.trim() || (label && label.textContent.trim()));
    }).map((e) => e.outerHTML.slice(0, 80));
  },

  column(table, index) {
    return [...document.querySelectorAll(`${table} tbody tr`)].map((row) => Number(row.cells[index].dataset.value));
  },

  // The longest time between frames while `act(i)` is called before each of `count` frames.
  async frames(count, act) {
    let longest = 0;
    let sum = 0;
    let last = await new Promise(requestAnimationFrame);
    for (let i = 0; i < count; ++i) {
      act(i);
      const now = await new Promise(requestAnimationFrame);
      longest = Math.max(longest, now - last);
      sum += now - last;
      last = now;
    }
    return { longest_ms: longest, mean_ms: sum / count };
  },
};
