/** newQueuesPanel shows what waits: inputs, frames, agents, clients. */
function newQueuesPanel(root, source, app) {
  const groups = new Map();

  /** put shows the fields of an object as a list of facts under a title. */
  function put(title, fields) {
    let group = groups.get(title);
    if (!group) {
      const section = element(root, "section", "block");
      element(section, "h3", "", title);
      group = { section, list: element(section, "dl", "facts counts"), cells: new Map() };
      groups.set(title, group);
    }
    group.section.hidden = !fields;
    for (const [name, v] of Object.entries(fields ?? {})) {
      if (!group.cells.has(name)) {
        element(group.list, "dt", "", clean(name, 60));
        group.cells.set(name, element(group.list, "dd"));
      }
      const cell = group.cells.get(name), text = typeof v === "string" ? v : factText(v);
      if (cell.textContent === text) continue;
      cell.textContent = text;
      flash(cell);
      cell.classList.toggle("warn", lossy.has(name) && v > 0);
    }
  }

  const lossy = new Set(["full", "share", "late", "ignored", "dropped total", "slow", "bad", "fast", "faults", "not taken", "refused", "skipped"]);

  async function work() {
    const q = await app.ask("queues");
    put("Inputs", readable(q.inputs));
    put("Frames", readable(q.frames));
    const agents = Array.isArray(q.agents) ? q.agents : q.agents ? [q.agents] : [];
    agents.slice(0, 50).forEach((a, i) => put(agents.length > 1 ? `Agents ${i + 1}` : "Agents", readable(a)));
    put("Clients", readable(q.clients));
  }

  app.on("reset", () => {
    for (const { section } of groups.values()) section.remove();
    groups.clear();
  });
  return newPanel(root, app, 500, work);
}

/** readable gives the fields of an answer the words and units of a reader. */
function readable(fields) {
  if (!fields) return null;
  const out = {};
  for (const [name, v] of Object.entries(fields)) {
    const words = name.replace(/([a-z])([A-Z])/g, "$1 $2").replaceAll("_", " ").toLowerCase();
    if (words.endsWith(" ns") && typeof v === "number") out[words.slice(0, -3)] = duration(v);
    else if (v && typeof v === "object" && "p50" in v) out[words] = ["p50", "p95", "p99"].filter(p => v[p] !== undefined).map(p => `${p} ${duration(v[p])}`).join(" · ");
    else if (/bytes$/.test(words) && typeof v === "number") out[words] = bytesText(v);
    else if (typeof v === "number") out[words] = Number.isInteger(v) ? number(v) : valueText(v);
    else if (v && typeof v === "object" && !Array.isArray(v)) for (const [k, w] of Object.entries(readable(v))) out[`${words}: ${k}`] = w;
    else out[words] = v;
  }
  return out;
}
