const eventsKept = 4096;

/** newRecords keeps the last records that a request with after= returns, and counts the lost ones. */
function newRecords(most) {
  const records = { list: [], seq: 0, lost: 0 };
  return Object.assign(records, {
    add(answer, list) {
      if (answer.seq < records.seq) records.clear(); // the log went back
      records.seq = answer.seq;
      records.lost += answer.lost ?? 0;
      records.list = [...records.list, ...list].slice(-most);
      return list.length > 0;
    },
    clear() {
      records.list = [];
      records.seq = records.lost = 0;
    },
  });
}

/** newEventsPanel lists contact events, the newest first. */
function newEventsPanel(root, source, app) {
  const tools = element(root, "div", "filters"), row = element(tools, "div", "where-row"), kind = element(row, "select");
  kind.setAttribute("aria-label", "Kind of event");
  kind.add(new Option("all kinds", ""));
  for (const k of ["begin", "end", "sensor_begin", "sensor_end", "hit", "disabled", "broken", "joint_load", "slept", "woke"]) kind.add(new Option(k.replace("_", " "), k));
  const box = newCheck(row, "selected entity only", false, () => show());
  const hold = newButton(row, "Hold", () => {
    held = !held;
    hold.setAttribute("aria-pressed", held);
  }, "Keep the list as it is");
  newButton(row, "Clear", () => {
    records.list = [];
    show();
  });
  const says = element(tools, "p", "soft says");
  const grid = newGrid(root, { label: "Contact events", empty: "No events yet.", onPick: i => choose(shown[shown.length - 1 - i]), onOpen: () => app.tabs.show("entity") });
  grid.columns([
    { name: "tick", width: 70, kind: "num" }, { name: "event", width: 106, kind: "" }, { name: "a", width: 80, kind: "mono" },
    { name: "b", width: 80, kind: "mono" }, { name: "speed", width: 70, kind: "mono num" }, { name: "point", title: "where it hit, or what else is known", width: 130, kind: "mono" },
  ]);
  const records = newRecords(eventsKept);
  let shown = [], held = false;

  const sideText = s => s ? clean(String(s.entity ?? s.body ?? s.shape ?? "")) : "";
  const pairText = p => p.map(v => typeof v === "number" ? number(v, 2) : v).join(", ");
  const pointText = e => e.point ? pairText(e.point) : e.force ? `force ${pairText(e.force)}` : e.column ? `${clean(e.column, 60)} is ${valueText(e.value)}` : "";
  const isMine = e => app.selected !== null && [e.a?.entity, e.b?.entity].includes(app.selected.id);

  function show() {
    shown = records.list.filter(e => (!kind.value || e.kind === kind.value) && (!box.checked || isMine(e)));
    setText(says, `${plural(shown.length, "event")}${records.lost ? `; ${number(records.lost)} more came too fast to be kept` : ""}. Events are recorded while this list is open.`);
    grid.rows(shown.length, i => {
      const e = shown[shown.length - 1 - i];
      e.cells ??= [number(e.tick), clean(e.kind).replace("_", " "), sideText(e.a), sideText(e.b), typeof e.speed === "number" ? number(e.speed, 2) : "", pointText(e)];
      return e;
    });
  }

  function choose(e) {
    const entity = e?.a?.entity ?? e?.b?.entity;
    if (entity) app.selectId(entity);
  }

  async function work() {
    const answer = await app.ask("events", { after: records.seq });
    if (held) return;
    records.add(answer, answer.events);
    show();
  }

  kind.addEventListener("change", show);
  app.on("select", () => box.checked && show());
  app.on("reset", () => {
    records.clear();
    show();
  });
  return newPanel(root, app, 250, work);
}
