/** newDiffPanel lists all differences of two states: of two ticks of a log, or of two logs. */
function newDiffPanel(root, source, app) {
  const form = element(root, "form", "diff-form");
  const a = newTickField(form, "a", app), b = newTickField(form, "b", app), row = element(form, "div", "where-row");
  const box = newCheck(row, "b in the second log"), other = box.parentElement;
  box.id = "diff-other";
  const go = element(row, "button", "", "Compare");
  go.id = "diff-go";
  const bar = element(root, "progress", "progress"), says = element(root, "p", "soft says"), first = element(root, "p", "first mono");
  says.setAttribute("role", "status");
  bar.max = 1;
  bar.hidden = first.hidden = true;
  const grid = newGrid(root, { label: "Differences", empty: "Nothing compared yet.", onPick: i => choose(answer?.differences[i]) });
  let wanted = null, answer = null;
  showColumns("a", "b");

  function showColumns(nameA, nameB) {
    grid.columns([
      { name: "column", width: 130, kind: "mono" }, { name: "entity", width: 92, kind: "mono" }, { name: nameA, width: 120, kind: "mono num" }, { name: nameB, width: 120, kind: "mono num" },
    ]);
  }

  function show() {
    const list = answer?.differences ?? [];
    grid.rows(list.length, i => {
      const d = list[i];
      d.cells ??= [componentName(app, d.column, d.component), d.entity ?? (d.slot !== undefined ? "slot " + d.slot : d.row !== undefined ? "row " + d.row : ""), d.a, d.b].map(v => clean(typeof v === "string" ? v : valueText(v)));
      return d;
    });
  }

  /** choose moves the log to the tick at which the difference is seen, and selects the entity. */
  async function choose(d) {
    if (!d) return;
    await app.timeline.goTo(answer.b, wanted?.with === "other" ? "other" : "log");
    if (d.entity) app.selectId(d.entity);
  }

  form.addEventListener("submit", event => {
    event.preventDefault();
    wanted = { of: "log", a: a.value, b: b.value, with: box.checked ? "other" : "log", limit: 1000 };
    answer = null;
    show();
    panel.refresh();
  });

  const panel = newPanel(root, app, 250, async () => {
    const timeline = app.timeline.state;
    other.hidden = !timeline?.other;
    go.disabled = !timeline?.log;
    if (!timeline?.log) return setText(says, timeline ? "There is no log to compare." : "");
    a.limit(timeline.log);
    b.limit(box.checked && timeline.other ? timeline.other : timeline.log);
    if (!wanted) return setText(says, "Choose two ticks: type them, or move the timeline and use its tick.");
    if (answer) return;
    bar.hidden = false;
    let got;
    try {
      got = await app.ask("diff", wanted);
    } catch (err) {
      if (err instanceof Outdated) throw err;
      wanted = null;
      bar.hidden = true;
      setText(says, "");
      throw err;
    }
    if (got.status === 202) {
      bar.value = got.progress ?? 0;
      return setText(says, `comparing, ${percent(got.progress ?? 0)}`);
    }
    bar.hidden = true;
    answer = got;
    grid.empty("No differences.");
    showColumns(`after tick ${number(got.a)}`, `after tick ${number(got.b)}`);
    setText(says, got.total ? `${plural(got.total, "difference")}${got.truncated ? `, of which the first ${number(got.differences.length)} are shown` : ""}. Choose one to go there.` : "The states are equal.");
    setText(first, got.first ? clean(got.first, 1000) : "");
    first.hidden = !got.first;
    show();
  });
  app.on("reset", () => panel.refresh());
  return panel;
}

/** newTickField is a number with a button that takes the present tick of the timeline. */
function newTickField(form, name, app) {
  const field = element(form, "div", "where-row tick-field"), label = element(field, "label", "", `tick ${name}`), input = element(field, "input");
  Object.assign(input, { type: "number", id: "diff-" + name, min: 0, step: 1, required: true });
  label.htmlFor = input.id;
  newButton(field, "Use the present tick", () => {
    const scrub = byId("scrub");
    input.value = app.of === "live" && !scrub.disabled ? Math.min(app.tick, Number(scrub.max)) : Math.max(0, app.tick);
  });
  return {
    get value() { return input.value; },
    limit({ first, last }) {
      input.min = first;
      input.max = last;
      if (input.value === "") input.value = name === "a" ? first : last;
    },
  };
}
