const stepsShown = 600;

/** newSystemsPanel shows how long the steps and their phases take. */
function newSystemsPanel(root, source, app) {
  const figures = element(root, "dl", "figures"), plot = element(root, "div", "plot");
  plot.dataset.label = "Duration of the last steps";
  const table = element(root, "table", "phases"), head = element(element(table, "thead"), "tr"), rows = element(table, "tbody");
  for (const name of ["phase", "p50", "p95", "p99", "max", "share"]) element(head, "th", "", name);
  let ticksSeen = [], ns = [], budget = 0, bars = null, phases = new Map(), turn = 0;

  async function work() {
    const { ticks: newTicks, ns: newNs, budget_ns } = await app.ask("steps", { after: ticksSeen.at(-1) ?? 0 });
    budget = budget_ns;
    if (newTicks.length) {
      if (newTicks[0] <= (ticksSeen.at(-1) ?? -1)) ticksSeen = [], ns = []; // the log went back
      ticksSeen = [...ticksSeen, ...newTicks].slice(-stepsShown);
      ns = [...ns, ...newNs].slice(-stepsShown);
    }
    drawSteps();
    if (turn++ % 4 === 0) await showPhases();
  }

  async function showPhases() {
    const s = await app.ask("systems");
    showFigures(s.step, s.budget_ns);
    for (const p of s.phases) if (!phases.has(p.name)) phases.set(p.name, newPhaseRow(rows, p.name));
    for (const [name, row] of phases) row.show(s.phases.find(p => p.name === name));
    const order = s.phases.map(p => phases.get(p.name).root);
    if (order.some((r, i) => rows.children[i] !== r)) rows.prepend(...order);
  }

  function showFigures(step, budget_ns) {
    const values = { last: step.last_ns, p50: step.p50_ns, p95: step.p95_ns, p99: step.p99_ns, slowest: step.max_ns, budget: budget_ns };
    if (!figures.firstChild) {
      for (const name of Object.keys(values)) {
        const one = element(figures, "div");
        element(one, "dt", "", name);
        element(one, "dd", "", "–");
      }
    }
    Object.entries(values).forEach(([name, v], i) => {
      const dd = figures.children[i].lastChild;
      setText(dd, v > 0 ? duration(v) : "–");
      dd.className = name !== "budget" && budget_ns > 0 && v > budget_ns ? "bad" : "";
    });
  }

  /** drawSteps draws a line a step: a path for those within the budget, one for the others. */
  function drawSteps() {
    const c = chart(plot, 190, 46), most = Math.max(...ns, 1), unit = unitOf(most);
    const near = budget > 0 && budget < 4 * most, top = 1.1 * Math.max(most, near ? budget : 0), y = scale(0, top, c.bottom, c.top);
    axis(c, y, top, unit);
    const width = (c.right - c.left) / stepsShown, paths = { bar: "", over: "" };
    const at = i => c.left + (stepsShown - ns.length + i) * width;
    for (let i = 0; i < ns.length; i++) {
      paths[budget > 0 && ns[i] > budget ? "over" : "bar"] += `M${round(at(i))} ${c.bottom}V${round(y(ns[i]))}h${round(width * 10) / 10 + 0.1}V${c.bottom}z`;
    }
    for (const [kind, d] of Object.entries(paths)) if (d) draw(c.root, "path", { class: kind, d });
    if (ns.length) {
      draw(c.root, "text", { class: "axis", x: c.right, y: c.bottom + 17, "text-anchor": "end" }, "tick " + number(ticksSeen.at(-1)));
      draw(c.root, "text", { class: "axis", x: c.left, y: c.bottom + 17 }, `the last ${stepsShown} steps`);
    }
    if (near) limit(c, y, top, budget, "budget", "budget " + duration(budget));
    else if (budget > 0) draw(c.root, "text", { class: "axis", x: c.right, y: 12, "text-anchor": "end" }, `↑ the budget is ${duration(budget)}`);
    bars = { c, width };
  }

  tips(plot, x => {
    if (!bars) return null;
    const i = Math.floor((x - bars.c.left) / bars.width) - (stepsShown - ns.length);
    if (!(i >= 0 && i < ns.length)) return null;
    return ["tick " + number(ticksSeen[i]), duration(ns[i]) + (budget > 0 && ns[i] > budget ? ", over the budget" : "")];
  });

  app.on("reset", () => {
    [ticksSeen, ns, turn] = [[], [], 0];
    phases = new Map();
    rows.replaceChildren();
    figures.replaceChildren();
  });
  return newPanel(root, app, 250, work);
}

function newPhaseRow(rows, name) {
  const root = element(rows, "tr");
  element(root, "td", "name", clean(name, 60)).title = clean(name, 400);
  const cells = ["p50", "p95", "p99", "max"].map(label => {
    const cell = element(root, "td");
    cell.dataset.label = label;
    return cell;
  });
  const share = element(root, "td", "wide"), text = document.createTextNode(""), bar = element(element(share, "span", "track"), "b");
  share.dataset.label = "share";
  share.prepend(text);
  return {
    root,
    show(p) {
      root.hidden = !p;
      if (!p) return;
      [p.p50_ns, p.p95_ns, p.p99_ns, p.max_ns].forEach((v, i) => setText(cells[i], duration(v)));
      text.data = percent(p.share);
      bar.style.width = 100 * Math.min(1, Math.max(0, p.share)) + "%";
    },
  };
}
