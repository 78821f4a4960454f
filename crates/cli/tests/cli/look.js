// What can be measured of a page as it stands in the browser. The value of the last expression is the report.
(() => {
  const report = { overlaps: [], cut: [], small: [], faint: [] };
  const page = document.documentElement;
  const name = (element) => `${element.tagName} ${(element.textContent || '').trim().slice(0, 60)}`;

  const touches = (a, b) =>
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 2 && b.top < a.bottom - 2;
  for (const picture of document.querySelectorAll('svg')) {
    const frame = picture.getBoundingClientRect();
    const texts = [...picture.querySelectorAll('text')].map((text) => [text, text.getBoundingClientRect()]);
    texts.forEach(([text, box], n) => {
      for (const [other, otherBox] of texts.slice(n + 1)) {
        if (touches(box, otherBox)) report.overlaps.push(`${picture.id}: ${name(text)} / ${name(other)}`);
      }
      const isInside = box.left >= frame.left - 1 && box.right <= frame.right + 1 &&
        box.top >= frame.top - 1 && box.bottom <= frame.bottom + 1;
      if (!isInside) report.cut.push(`${picture.id}: ${name(text)}`);
    });
  }

  const rgba = (text) => {
    const [red, green, blue, alpha = 1] = text.match(/[\d.]+/g).map(Number);
    return { red, green, blue, alpha };
  };
  const light = ({ red, green, blue }) => {
    const [r, g, b] = [red, green, blue].map((value) => {
      const share = value / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [dark, bright] = [light(rgba(one)), light(rgba(other))].sort((a, b) => a - b);
    return (bright + 0.05) / (dark + 0.05);
  };
  const behind = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const color = getComputedStyle(one).backgroundColor;
      if (rgba(color).alpha === 1) return color;
    }
    return 'rgb(255, 255, 255)';
  };
  // The bar that a text stands on comes right before it.
  const ground = (text) =>
    ['letter', 'took'].some((name) => text.classList.contains(name)) ? getComputedStyle(text.previousElementSibling).fill : behind(text);

  const says = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
  const isShown = (element) => element.checkVisibility() && !['title', 'desc', 'STYLE'].includes(element.tagName);
  for (const element of document.body.querySelectorAll('*')) {
    if (!says(element) || !isShown(element)) continue;
    const style = getComputedStyle(element);
    if (parseFloat(style.fontSize) < 12) report.small.push(`${style.fontSize} ${name(element)}`);
    const ink = element.ownerSVGElement ? style.fill : style.color;
    const ratio = contrast(ink, ground(element));
    if (ratio < 4.5) report.faint.push(`${ratio.toFixed(2)} ${element.className.baseVal ?? element.className} ${name(element)}`);
  }
  for (const list of ['overlaps', 'cut', 'small', 'faint']) report[list] = [...new Set(report[list])].slice(0, 10);

  const count = (selector) => document.querySelectorAll(selector).length;
  report.wide = [page.scrollWidth, page.clientWidth];
  report.columns = count('#matrix thead th[data-column]');
  report.bars = count('#loss-chart g[data-round]');
  report.steps = count('#action-grid g[data-step]');
  report.lanes = count('#timeline rect.lane');
  return report;
})()
