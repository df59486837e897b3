package browser

import "fmt"

// Illegible lists what cannot be read: text that is too small or lacks contrast with its background, by the formula of
// WCAG 2.2, and elements beyond the right edge; and if there are fewer than least texts.
func (p *Page) Illegible(least int) string {
	p.t.Helper()
	return p.Text(fmt.Sprintf(illegible, least))
}

const illegible = `(least => {
  const channels = text => {
    const m = text.match(/[\d.]+/g).map(Number), [r, g, b, a = 1] = m, by = text.startsWith("color(srgb") ? 255 : 1;
    return [by * r, by * g, by * b, a];
  };
  const luminance = ([r, g, b]) => {
    const linear = [r, g, b].map(v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const contrast = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const background = e => {
    for (; e; e = e.parentElement) { const c = channels(getComputedStyle(e).backgroundColor); if (c[3] > 0.99) return c; }
    return [255, 255, 255];
  };
  const scrolled = e => e && (["auto", "scroll"].includes(getComputedStyle(e).overflowX) || scrolled(e.parentElement));
  const found = new Set();
  let texts = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const e = node.parentElement, style = getComputedStyle(e);
    if (!node.data.trim() || ["SCRIPT", "STYLE"].includes(e.tagName) || !e.checkVisibility({ visibilityProperty: true })) continue;
    texts++;
    const ink = e instanceof SVGElement ? style.fill : style.color, words = node.data.trim().slice(0, 40);
    if (parseFloat(style.fontSize) < 11) found.add("size " + style.fontSize + ": " + words);
    const c = contrast(channels(ink), background(e));
    if (c < 4.5) found.add("contrast " + c.toFixed(2) + ": " + words);
    if (!scrolled(e) && e.getBoundingClientRect().right > innerWidth + 1) found.add("beyond the edge: " + words);
  }
  if (document.documentElement.scrollWidth > innerWidth) found.add("the page scrolls sideways: " + document.documentElement.scrollWidth);
  if (texts < least) found.add("only " + texts + " texts");
  return [...found].join("\n");
})(%d)`

// Collisions lists texts below the element root that lie on other texts or on the marks, or are cut off, and children of the parents that
// overlap, by the rectangles in which the browser has drawn them. The three are selectors.
func (p *Page) Collisions(root, marks, parents string) string {
	p.t.Helper()
	return p.Text(fmt.Sprintf(collisions, root, marks, parents))
}

const collisions = `((root, marks, parents) => {
  const found = new Set(), boxes = [];
  const clips = new Map(); // the right edge at which what is in an element is cut off
  const clip = e => {
    if (!e || e.matches(root)) return Infinity;
    if (!clips.has(e)) clips.set(e, Math.min(clip(e.parentElement), getComputedStyle(e).overflowX === "hidden" ? e.getBoundingClientRect().right : Infinity));
    return clips.get(e);
  };
  const seen = e => { // the part of an element's place that is seen: what it and others scroll is trimmed
    let l = -Infinity, r = Infinity, t = -Infinity, b = Infinity;
    for (; e && !e.matches(root); e = e.parentElement) {
      const style = getComputedStyle(e), box = e.getBoundingClientRect();
      if (["auto", "scroll"].includes(style.overflowX)) { l = Math.max(l, box.left); r = Math.min(r, box.right); }
      if (["auto", "scroll"].includes(style.overflowY)) { t = Math.max(t, box.top); b = Math.min(b, box.bottom); }
    }
    return { l, r, t, b };
  };
  const layer = e => { // what stays in place while the page scrolls lies on what scrolls
    for (; e && !e.matches(root); e = e.parentElement) if (["fixed", "sticky"].includes(getComputedStyle(e).position)) return e;
    return null;
  };
  const words = s => s.trim().replace(/\s+/g, " ").slice(0, 40);
  const shown = e => e.checkVisibility({ visibilityProperty: true });
  const walker = document.createTreeWalker(document.querySelector(root), NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const e = node.parentElement;
    if (!node.data.trim() || ["SCRIPT", "STYLE", "OPTION"].includes(e.tagName) || !shown(e)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const w = seen(e), on = layer(e);
    for (const rect of range.getClientRects()) {
      const r = { left: Math.max(rect.left, w.l), right: Math.min(rect.right, w.r), top: Math.max(rect.top, w.t), bottom: Math.min(rect.bottom, w.b) };
      if (r.right - r.left < 1 || r.bottom - r.top < 1 || r.right <= 0) continue; // nothing, or hidden until it has the focus
      boxes.push({ l: r.left, r: r.right, t: r.top, b: r.bottom, text: words(node.data), on });
      if (r.left < -0.5 || r.right > innerWidth + 0.5) found.add("beyond the edge: " + words(node.data));
      if (r.right > clip(e) + 1) found.add("cut off: " + words(node.data));
      const svg = e.closest("svg");
      if (svg && r.left < svg.getBoundingClientRect().left - 1) found.add("left of its chart: " + words(node.data));
      if (svg && r.right > svg.getBoundingClientRect().right + 1) found.add("right of its chart: " + words(node.data));
    }
  }
  for (const e of document.querySelectorAll(marks)) {
    const r = e.getBoundingClientRect();
    boxes.push({ l: r.left, r: r.right, t: r.top, b: r.bottom, text: "the " + e.getAttribute("class"), on: layer(e) });
  }
  boxes.sort((a, b) => a.t - b.t);
  for (let i = 0; i < boxes.length; i++) {
    const a = boxes[i];
    for (let j = i + 1; j < boxes.length && boxes[j].t < a.b; j++) {
      const b = boxes[j];
      if (a.on !== b.on) continue;
      // Line boxes are higher than their letters, so what shares a few pixels of height does not touch.
      const over = Math.min(a.b, b.b) - b.t, wide = Math.min(a.r, b.r) - Math.max(a.l, b.l);
      if (over > 0.3 * Math.min(a.b - a.t, b.b - b.t) && wide > 0.5) found.add("on each other: " + a.text + " | " + b.text);
    }
  }
  for (const parent of document.querySelectorAll(parents)) {
    const kids = [...parent.children].filter(shown).filter(e => !["BR", "BUTTON"].includes(e.tagName) || parent.tagName !== "TD");
    for (let i = 0; i < kids.length; i++) for (let j = i + 1; j < kids.length; j++) {
      if (layer(kids[i]) !== layer(kids[j])) continue;
      const a = kids[i].getBoundingClientRect(), b = kids[j].getBoundingClientRect();
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1) {
        found.add("boxes of <" + parent.tagName.toLowerCase() + "> overlap: " + words(kids[i].innerText ?? "") + " | " + words(kids[j].innerText ?? ""));
      }
    }
  }
  return [...found].join("\n");
})(%q, %q, %q)`
