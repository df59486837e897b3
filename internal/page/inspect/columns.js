/** newColumnsPanel shows what each column holds: range, values that are not finite, version and hash. */
function newColumnsPanel(root, source, app) {
  const summary = element(root, "p", "soft says"), list = element(root, "div", "cards");
  let lines = [], key = "";

  async function work() {
    const { columns } = await app.ask("columns");
    const names = JSON.stringify(columns.map(c => [c.owner, c.name, c.component]));
    if (names !== key) build(columns, key = names);
    const spoiled = columns.filter(c => c.nan || c.inf).length;
    setText(summary, `${plural(columns.length, "column")}${spoiled ? `, ${spoiled} with NaN or infinities` : ""}. Each bar is the present range of values, within the widest range seen so far.`);
    columns.forEach((c, i) => lines[i].show(c));
  }

  function build(columns) {
    list.replaceChildren();
    lines = columns.map((c, i) => newColumnLine(list, c, columns.some((o, k) => k !== i && o.name === c.name && o.owner === c.owner)));
  }

  app.on("reset", () => {
    key = "";
    list.replaceChildren();
    setText(summary, "");
  });
  return newPanel(root, app, 1000, work);
}

/** newColumnLine shows one component of a column, or a part of the state that has a hash alone. */
function newColumnLine(list, column, several) {
  const line = element(list, "div", "column");
  const name = element(line, "p", "name", clean(column.name, 80) + (several ? `[${column.component}]` : ""));
  name.title = clean(column.name, 400);
  element(line, "p", "soft kind", [column.kind, column.owner].filter(Boolean).join(" · "));
  const min = element(line, "span", "mono min"), track = element(line, "span", "track"), bar = element(track, "b"), max = element(line, "span", "mono max");
  const notes = element(line, "p", "notes"), bad = element(notes, "span", "bad"), version = element(notes, "span", "soft"), hash = element(notes, "span", "mono soft");
  let least = Infinity, most = -Infinity;
  min.hidden = track.hidden = max.hidden = !column.kind;

  function put(e, text) {
    if (e.textContent === text) return;
    e.textContent = text;
    flash(e);
  }

  return {
    show(c) {
      const a = numeric(c.min ?? NaN), b = numeric(c.max ?? NaN), finite = Number.isFinite(a) && Number.isFinite(b);
      put(min, valueText(c.min));
      put(max, valueText(c.max));
      bar.hidden = !finite;
      if (finite) {
        least = Math.min(least, a);
        most = Math.max(most, b);
        const width = most - least || 1, from = (a - least) / width, to = (b - least) / width;
        bar.style.left = 100 * from + "%";
        bar.style.width = Math.max(1, 100 * (to - from)) + "%";
      }
      const lost = [c.nan && `${number(c.nan)} NaN`, c.inf && `${number(c.inf)} infinite`].filter(Boolean).join(", ");
      put(bad, lost);
      line.classList.toggle("spoiled", Boolean(lost));
      put(version, !c.version ? "" : "version " + (typeof c.version === "number" ? number(c.version) : clean(String(c.version))));
      put(hash, c.hash ? clean(String(c.hash)).slice(0, 8) : "");
      hash.title = c.hash ? "hash " + clean(String(c.hash)) : "";
      track.title = c.mean === undefined || c.mean === null ? "" : `mean ${valueText(c.mean)} of ${plural(c.count, "row")}`;
    },
  };
}
