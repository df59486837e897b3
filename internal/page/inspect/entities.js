/** newEntityPanel shows the selected entity: tags, all columns, its body. */
function newEntityPanel(root, source, app) {
  const nothing = element(root, "p", "soft lead", "Select an entity: click it in the world, or in the list of entities.");
  const content = element(root, "div", "picked");
  content.id = "picked";
  content.hidden = true;
  const head = element(content, "div", "head"), title = element(head, "h2", "mono"), tools = element(head, "div", "tools");
  const follow = newButton(tools, "Follow", () => {
    app.following = !app.following;
    app.announce("select");
  }, "Keep the entity in the middle of the view");
  const copy = newButton(tools, "Copy", copyText, "Copy all values as JSON");
  newButton(tools, "Clear", () => {
    app.select(null);
    byId("tab-entity").focus(); // the button is hidden now
  }, "Select nothing");
  const tags = element(content, "p", "tags"), list = element(content, "div", "values"), bodyTitle = element(content, "h3", "", "Body"), body = element(content, "dl", "facts");
  let last = null, layout = "", cells = [];
  const facts = new Map();

  async function work() {
    if (!app.selected) return;
    const { id } = app.selected;
    let answer;
    try {
      answer = await app.ask("entity", { id });
    } catch (err) {
      if (err.status !== 404) throw err;
      content.classList.add("stale");
      throw new Error(`${clean(id)} no longer exists.`);
    }
    if (app.selected?.id !== id) return;
    content.classList.remove("stale");
    last = answer;
    show(answer);
  }

  function show(e) {
    nothing.hidden = true;
    content.hidden = false;
    setText(title, `${clean(e.id)} · slot ${e.slot}`);
    const key = JSON.stringify([e.id, e.tags, e.columns.map(c => [c.name, c.values.length]), e.blobs, e.body?.solver]);
    if (key !== layout) build(e, layout = key);
    e.columns.forEach((c, i) => c.values.forEach((v, k) => {
      const cell = cells[i][k], text = valueText(v);
      if (cell.textContent === text) return;
      cell.textContent = text;
      cell.title = String(v).slice(0, 200);
      cell.classList.toggle("bad", Number.isNaN(numeric(v)));
      flash(cell);
    }));
    showBody(e.body);
  }

  function build(e) {
    tags.replaceChildren();
    body.replaceChildren();
    facts.clear();
    for (const t of e.tags ?? []) element(tags, "span", "chip", clean(t, 60)).title = clean(t, 400);
    if (!e.tags?.length) element(tags, "span", "soft", "no tags");
    list.replaceChildren();
    cells = e.columns.map(c => {
      const line = element(list, "div", "value-line");
      element(line, "span", "name", clean(c.name, 80)).title = clean(c.name, 400);
      const values = element(line, "span", "nums mono");
      return c.values.map(() => element(values, "span", "num"));
    });
    for (const b of e.blobs ?? []) {
      const line = element(list, "div", "value-line");
      element(line, "span", "name", clean(b.name, 80)).title = clean(b.name, 400);
      element(line, "span", "nums mono", `${number(b.bytes)} bytes`);
    }
  }

  function showBody(b) {
    bodyTitle.hidden = body.hidden = !b;
    if (!b) return;
    for (const [name, v] of Object.entries(b)) {
      if (!facts.has(name)) {
        element(body, "dt", "", clean(name.replaceAll("_", " "), 60));
        facts.set(name, element(body, "dd", "mono"));
      }
      const cell = facts.get(name);
      if (name === "contacts" && Array.isArray(v)) showContacts(cell, v);
      else setText(cell, name === "shapes" && Array.isArray(v) ? shapesText(v) : factText(v));
    }
  }

  const shapesText = list => list.map(s => clean(String(s.shape)) + (s.sensor ? " (sensor)" : "")).join(", ") || "none";

  /** showContacts lists what the body touches; an entity can be selected. */
  function showContacts(cell, list) {
    const others = [...new Map(list.map(c => [c.other?.entity ?? c.other?.body ?? c.other?.shape ?? "", c.other])).entries()].slice(0, 40);
    const key = JSON.stringify(others.map(([name]) => name));
    if (cell.shown === key) return;
    cell.shown = key;
    cell.replaceChildren();
    for (const [name, other] of others) {
      if (other?.entity) newButton(cell, clean(name), () => app.selectId(other.entity), "Select this entity").className = "chip";
      else element(cell, "span", "chip", clean(String(name)) || "a shape that is gone");
    }
    if (!others.length) cell.textContent = "none";
  }

  async function copyText() {
    if (!last) return;
    const { status, ...entity } = last;
    try {
      await navigator.clipboard.writeText(JSON.stringify(entity, null, 2));
      copy.textContent = "Copied";
    } catch {
      copy.textContent = "Copying is not allowed";
    }
    setTimeout(() => { copy.textContent = "Copy"; }, 1500);
  }

  const panel = newPanel(root, app, 200, work);
  app.on("select", () => {
    follow.setAttribute("aria-pressed", app.following);
    if (!app.selected) {
      content.hidden = true;
      nothing.hidden = false;
      layout = "";
      last = null;
    } else if (last?.id !== app.selected.id) {
      for (const cell of cells.flat()) cell.changedAt = undefined;
    }
    panel.refresh();
  });
  app.on("follow", () => follow.setAttribute("aria-pressed", app.following));
  return panel;
}

/** factText writes a value of any shape in a line. */
function factText(v) {
  if (Array.isArray(v)) return v.length ? v.slice(0, 24).map(factText).join(", ") + (v.length > 24 ? ", …" : "") : "none";
  if (typeof v === "object" && v) return Object.entries(v).map(([k, w]) => `${clean(k, 40)} ${factText(w)}`).join(" ");
  return typeof v === "boolean" ? (v ? "yes" : "no") : valueText(v);
}

const pageOfRows = 100; // in one request; at most 500 are allowed

/** newEntitiesPanel lists the entities that a filter lets through; only the rows in view are asked for. */
function newEntitiesPanel(root, source, app) {
  const head = element(root, "div", "filters"), tagRow = element(head, "div", "tag-row");
  tagRow.setAttribute("role", "group");
  tagRow.setAttribute("aria-label", "Tags");
  const form = element(head, "form", "where-row"), where = element(form, "input");
  Object.assign(where, { type: "text", id: "where", placeholder: "where, as in hp > 3 and position.x < 10", spellcheck: false, autocomplete: "off" });
  where.title = "A name with spaces or signs stands in quotes; the list of columns shows how";
  where.setAttribute("aria-label", "Condition on columns");
  where.setAttribute("aria-describedby", "where-says");
  const chooser = element(form, "details", "chooser"), choices = element(chooser, "div", "choices");
  chooser.prepend(Object.assign(document.createElement("summary"), { textContent: "Columns" }));
  chooser.addEventListener("keydown", event => {
    if (event.key !== "Escape" || !chooser.open) return;
    event.preventDefault();
    chooser.open = false;
    chooser.firstChild.focus();
  });
  const line = element(head, "div", "where-row"), says = element(line, "p", "soft says");
  says.id = "where-says";
  says.setAttribute("role", "status");
  const details = newButton(line, "Details", () => app.tabs.show("entity"), "Show the selected entity");
  details.id = "details";
  const grid = newGrid(root, {
    label: "Entities", empty: "loading …",
    onPick: i => {
      const row = rows.get(i);
      if (row) app.select({ id: row.id, slot: row.slot }, true);
    },
    onOpen: () => app.tabs.show("entity"),
    onRange: (first, count) => {
      if (!rows.has(first) || !rows.has(first + count - 1)) panel.refresh();
    },
    onSort: name => {
      order = order.name === name ? { name, down: !order.down } : { name, down: false };
      again();
    },
  });
  const tagStates = new Map(); // name → "with" | "without"
  const bySlot = { name: "", down: false }; // "" is the name of no column
  let rows = new Map(), total = 0, all = 0, answered = "", chosen = null, order = bySlot;

  function again() {
    rows = new Map();
    grid.top();
    panel.refresh();
  }

  const tagsOf = state => [...tagStates].filter(([, s]) => s === state).map(([name]) => name);

  function query(first) {
    const has = tagsOf("with"), hasNot = tagsOf("without"), q = { offset: Math.max(0, first), count: pageOfRows, tag: has, without: hasNot, columns: shownColumns() };
    if (order.name) q.sort = order.name;
    if (order.down) q.descending = 1;
    q.where = whereParts(where.value);
    return q;
  }

  const names = () => namesOfEntities(app), shownColumns = () => chosen ?? names().slice(0, 6);

  async function work() {
    const { first, count } = grid.range, q = query(Math.max(0, first - Math.floor((pageOfRows - count) / 2)));
    let answer;
    try {
      answer = await app.ask("entities", q);
    } catch (err) {
      if (err instanceof Outdated || err.status === 0) throw err;
      if (err.status === 400) where.setAttribute("aria-invalid", "true");
      setText(says, err.message);
      says.className = "says bad";
      grid.empty(""); // nothing is known
      return;
    }
    if (JSON.stringify(query(q.offset)) !== JSON.stringify(q)) return panel.refresh();
    where.removeAttribute("aria-invalid");
    keep(answer, q.offset);
  }

  function keep(answer, offset) {
    total = answer.total;
    grid.empty("No entity matches.");
    all = app.status?.entities ?? total;
    showColumns(answer.columns);
    rows = new Map([...rows].filter(([i]) => i < total && Math.abs(i - offset) < 5 * pageOfRows));
    answer.rows.forEach((row, k) => rows.set(offset + k, row));
    says.className = "says soft";
    setText(says, filterWords(total, Math.max(all, total), tagsOf("with"), tagsOf("without"), whereParts(where.value)));
    show();
  }

  function show() {
    grid.rows(total, i => {
      const row = rows.get(i);
      if (!row) return null;
      row.cells ??= [row.id, row.body ? "body" : "", ...row.values.map(valueText)].map(t => clean(t));
      row.kinds ??= ["", "", ...row.values.map(v => Number.isNaN(numeric(v)) ? "bad" : "")];
      row.chosen = row.id === app.selected?.id;
      return row;
    });
  }

  function showColumns(list) {
    const key = JSON.stringify([list, order]);
    if (key === answered) return;
    answered = key;
    const ordered = name => order.name === name ? (order.down ? "descending" : "ascending") : "none";
    grid.columns([
      { name: "entity", width: 104, kind: "mono", sort: bySlot.name, order: ordered(bySlot.name) },
      { name: "", title: "has a body", width: 62, kind: "soft" },
      ...list.map(name => ({ name, width: Math.max(84, Math.min(160, 24 + 8 * name.length)), kind: "mono num", sort: name, order: ordered(name) })),
    ]);
  }

  function showTags() {
    tagRow.replaceChildren();
    for (const t of app.world?.tags ?? []) {
      const chip = newButton(tagRow, "", () => {
        const next = { undefined: "with", with: "without" }[tagStates.get(t.name)];
        if (next) tagStates.set(t.name, next); else tagStates.delete(t.name);
        paint();
        again();
      });
      const paint = () => {
        const state = tagStates.get(t.name), name = clean(t.name, 40);
        chip.textContent = ({ with: "✓ ", without: "✗ " }[state] ?? "") + name;
        chip.className = "chip " + (state ?? "any");
        chip.setAttribute("aria-label", `${name}: ${state ?? "any"}`);
        chip.title = `${clean(t.name)}, ${entitiesText(t.count)}: with, without or any`;
      };
      paint();
    }
    tagRow.hidden = !app.world?.tags?.length;
  }

  function showChoices() {
    choices.replaceChildren();
    for (const name of names()) {
      const box = newCheck(choices, clean(name, 60), shownColumns().includes(name), checked => {
        const on = new Set(shownColumns());
        if (checked) on.add(name); else on.delete(name);
        chosen = names().filter(n => on.has(n));
        if (!on.has(order.name)) order = bySlot;
        again();
      });
      box.parentElement.title = `${clean(name, 400)}, in a condition: ${nameInWhere(name)}`;
      box.nextSibling.className = "mono";
    }
  }

  form.addEventListener("submit", event => {
    event.preventDefault();
    again();
  });
  let typing = 0;
  where.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(again, 300);
  });
  const panel = newPanel(root, app, 500, work);
  app.on("world", () => {
    for (const name of tagStates.keys()) if (!app.world.tags?.some(t => t.name === name)) tagStates.delete(name);
    chosen = chosen?.filter(name => names().includes(name)) ?? null;
    showTags();
    showChoices();
    again();
  });
  app.on("select", () => {
    details.disabled = !app.selected;
    show();
  });
  app.on("reset", () => {
    total = 0;
    answered = "";
    grid.empty("loading …");
    again();
    show();
  });
  details.disabled = true;
  showColumns([]);
  return panel;
}
