const gridRow = 27; // px

/**
 * newGrid shows rows of which only the visible ones are in the page.
 * @param {{label: string, empty: string, onPick?: (row: number) => void, onOpen?: (row: number) => void,
 *   onRange?: (first: number, count: number) => void, onSort?: (name: string) => void}} options
 */
function newGrid(root, options) {
  const host = element(root, "div", "grid-host");
  const head = element(host, "div", "grid-line grid-head"), body = element(host, "div", "grid-body");
  const lines = element(body, "div", "grid-lines"), empty = element(host, "p", "grid-empty soft", options.empty);
  host.tabIndex = 0;
  host.setAttribute("role", "grid");
  host.setAttribute("aria-label", options.label);
  head.setAttribute("role", "row");
  const name = "grid-" + newGrid.made++ + "-";
  let columns = [], total = 0, get = () => null, active = -1, pool = [], range = rowsInView(0, 0, 0, gridRow), frame = 0;

  const viewHeight = () => Math.max(0, host.clientHeight - head.offsetHeight);

  function paint() {
    frame = 0;
    const view = viewHeight();
    range = rowsInView(host.scrollTop, view, total, gridRow);
    body.style.height = range.height + "px";
    lines.style.transform = `translateY(${range.offset}px)`;
    empty.hidden = total > 0;
    while (pool.length < range.count) pool.push(newLine());
    for (let i = 0; i < pool.length; i++) fillLine(pool[i], i < range.count ? range.first + i : -1);
    const seen = active >= range.first && active < range.first + range.count;
    if (seen) host.setAttribute("aria-activedescendant", pool[active - range.first].root.id);
    else host.removeAttribute("aria-activedescendant");
  }

  function newLine() {
    const line = { root: element(lines, "div", "grid-line"), cells: [], index: -1 };
    line.root.setAttribute("role", "row");
    line.root.id = name + pool.length;
    line.root.addEventListener("click", () => pick(line.index));
    line.root.addEventListener("dblclick", () => options.onOpen?.(line.index));
    return line;
  }

  function fillLine(line, index) {
    line.root.hidden = index < 0;
    line.index = index;
    if (index < 0) return;
    const row = get(index);
    if (line.cells.length !== columns.length) {
      line.root.replaceChildren();
      line.cells = columns.map(() => {
        const cell = element(line.root, "span", "", " ");
        cell.setAttribute("role", "gridcell");
        return { root: cell, text: cell.firstChild, was: " ", kind: null };
      });
    }
    line.root.setAttribute("aria-rowindex", index + 2);
    line.root.classList.toggle("active", index === active);
    line.root.classList.toggle("chosen", Boolean(row?.chosen));
    for (let i = 0; i < columns.length; i++) {
      const cell = line.cells[i], text = row ? row.cells[i] ?? "" : "·", kind = columns[i].kind + (row?.kinds?.[i] ? " " + row.kinds[i] : "");
      if (cell.was !== text) cell.text.data = cell.was = text;
      if (cell.kind !== kind) cell.root.className = cell.kind = kind;
    }
  }

  function later() {
    if (!frame) frame = requestAnimationFrame(paint);
  }

  function pick(index) {
    if (index < 0 || index >= total) return;
    active = index;
    options.onPick?.(index);
    later();
  }

  function moveTo(index) {
    active = Math.max(0, Math.min(total - 1, index));
    host.scrollTop = scrollToRow(active, host.scrollTop, viewHeight(), total, gridRow);
    later();
    options.onRange?.(range.first, range.count);
  }

  host.addEventListener("scroll", () => {
    later();
    const seen = rowsInView(host.scrollTop, viewHeight(), total, gridRow);
    options.onRange?.(seen.first, seen.count);
  }, { passive: true });
  host.addEventListener("keydown", event => {
    const page = Math.max(1, Math.floor(viewHeight() / gridRow) - 1), from = active < 0 ? range.first : active;
    const to = { ArrowDown: active < 0 ? from : from + 1, ArrowUp: from - 1, PageDown: from + page, PageUp: from - page, Home: 0, End: total - 1 }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== host) return;
    if (to !== undefined && total > 0) moveTo(to);
    else if (event.key === "Enter" && active >= 0) pick(active), options.onOpen && event.shiftKey && options.onOpen(active);
    else return;
    event.preventDefault();
  });
  new ResizeObserver(() => {
    later();
    const seen = rowsInView(host.scrollTop, viewHeight(), total, gridRow);
    options.onRange?.(seen.first, seen.count);
  }).observe(host);

  return {
    host,
    /** @param {{name: string, title?: string, width: number, kind: string, sort?: string, order?: string}[]} list kind: classes */
    columns(list) {
      columns = list;
      host.style.setProperty("--columns", list.map(c => `minmax(${c.width}px, ${c.width}fr)`).join(" "));
      host.style.setProperty("--least", list.reduce((sum, c) => sum + c.width, 0) + "px");
      head.replaceChildren();
      for (const c of list) {
        const cell = element(head, "span", c.kind, c.sort !== undefined ? undefined : clean(c.name, 60));
        cell.setAttribute("role", "columnheader");
        cell.title = clean(c.title ?? c.name, 400);
        if (c.sort === undefined) continue;
        cell.setAttribute("aria-sort", c.order || "none");
        newButton(cell, clean(c.name, 60) + ({ ascending: " ↑", descending: " ↓" }[c.order] ?? ""), () => options.onSort?.(c.sort));
      }
      for (const line of pool) line.cells = [];
      for (const line of pool) line.root.replaceChildren();
      host.setAttribute("aria-colcount", list.length);
      later();
    },
    /** @param {(row: number) => {cells: string[], kinds?: string[], chosen?: boolean} | null} rowAt null: not there yet */
    rows(count, rowAt) {
      total = count;
      get = rowAt;
      if (active >= total) active = -1;
      host.setAttribute("aria-rowcount", total + 1);
      later();
    },
    /** empty sets what a list without rows says. */
    empty: text => setText(empty, text),
    top() {
      host.scrollTop = 0;
      active = -1;
    },
    get range() { return range; },
    redraw: later,
  };
}
newGrid.made = 0;
