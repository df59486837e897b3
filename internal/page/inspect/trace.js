const traceKept = 4096;

/** newTracePanel lists the causal trace: what agents saw, decided and did, step by step. */
function newTracePanel(root, source, app) {
  const tools = element(root, "div", "filters"), row = element(tools, "div", "where-row"), filter = element(row, "input");
  Object.assign(filter, { type: "text", id: "trace-filter", placeholder: "agent, decision, skill or kind", spellcheck: false, autocomplete: "off" });
  filter.setAttribute("aria-label", "Show steps that contain");
  newButton(row, "Clear", () => {
    filter.value = "";
    show();
  });
  const says = element(tools, "p", "soft says");
  const grid = newGrid(root, { label: "Causal trace", empty: "No steps yet.", onPick: i => showStep(shown[shown.length - 1 - i]) });
  grid.columns([
    { name: "tick", width: 68, kind: "num" }, { name: "step", width: 96, kind: "mono" }, { name: "kind", width: 84, kind: "" },
    { name: "agent", title: "agent or actor", width: 80, kind: "mono" }, { name: "decision", width: 76, kind: "mono num" }, { name: "cause", width: 96, kind: "mono" },
    { name: "more", width: 150, kind: "soft" },
  ]);
  const step = element(root, "div", "step"), title = element(step, "div", "head"), facts = element(step, "dl", "facts");
  step.hidden = true;
  const records = newRecords(traceKept);
  let shown = [];
  const plain = new Set(["seq", "id", "kind", "tick", "time", "cause", "decision", "agent", "actor"]);

  function show() {
    const words = filter.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
    shown = records.list.filter(s => words.every(w => (s.words ??= JSON.stringify(s).toLowerCase()).includes(w)));
    setText(says, `${plural(shown.length, "step")}${records.lost ? `; ${number(records.lost)} older ones are no longer kept` : ""}.`);
    grid.rows(shown.length, i => {
      const s = shown[shown.length - 1 - i];
      s.cells ??= [number(s.tick), s.id ?? "", s.kind ?? "", s.agent ?? s.actor ?? "", s.decision ?? "", s.cause ?? "", moreOf(s)].map(t => clean(String(t)));
      return s;
    });
  }

  const moreOf = s => Object.entries(s).filter(([k]) => !plain.has(k) && k !== "hash" && k !== "cells" && k !== "words").map(([k, v]) => `${k.replace("_", " ")} ${factText(v)}`).join(", ");

  /** showStep shows all fields of a step, and the way back to its cause. */
  function showStep(s) {
    if (!s) return;
    step.hidden = false;
    title.replaceChildren();
    facts.replaceChildren();
    element(title, "h3", "mono", clean(String(s.id)));
    const buttons = element(title, "div", "tools"), cause = records.list.find(o => o.id === s.cause), entity = s.agent ?? s.entity;
    if (cause) newButton(buttons, "Cause", () => showStep(cause));
    if (s.decision) newButton(buttons, "Decision", () => only(`"decision":"${s.decision}"`), "Show the steps of this decision alone");
    if (/^ent_\d+$/.test(entity ?? "")) newButton(buttons, "Entity", () => app.selectId(entity, "entity"));
    if (app.of !== "live") newButton(buttons, "Tick", () => app.timeline.goTo(s.tick));
    for (const [name, v] of Object.entries(s)) {
      if (name === "cells" || name === "words") continue;
      element(facts, "dt", "", clean(name.replace("_", " "), 60));
      element(facts, "dd", "mono", factText(v));
    }
  }

  function only(words) {
    filter.value = words;
    show();
  }

  filter.addEventListener("input", show);
  app.on("reset", () => {
    records.clear();
    step.hidden = true;
    show();
  });
  return newPanel(root, app, 500, async () => {
    const answer = await app.ask("trace", { after: records.seq });
    if (records.add(answer, answer.steps) || answer.lost || !says.textContent) show();
  });
}
