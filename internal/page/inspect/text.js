// Words and numbers as the panels show them. Nothing here needs a page, so that node can test it.

/** seconds formats a span of real time in ms: "3.2 s", "4 min 05 s". */
function seconds(ms) {
  if (ms < 59_950) return number(ms / 1000, 1) + " s";
  const s = Math.round(ms / 1000);
  return number(Math.floor(s / 60)) + " min " + String(s % 60).padStart(2, "0") + " s";
}

function bytesText(n) {
  const [name, size] = [["B", 1], ["kB", 1e3], ["MB", 1e6], ["GB", 1e9]].findLast(u => n >= u[1]) ?? ["B", 1];
  return number(n / size, size === 1 ? 0 : 1) + " " + name;
}

const percent = share => number(100 * share, Math.abs(share) < 0.0995 ? 1 : 0) + " %";

/** valueText shows a value of a column: six digits, and NaN, infinities and wide integers as they were sent. */
function valueText(v) {
  if (v === null || v === undefined) return "—";
  if (typeof v !== "number") return clean(String(v));
  return Number.isInteger(v) && Math.abs(v) < 1e15 ? String(v) : String(Number(v.toPrecision(6)));
}

/** forceText says how large a force is, and the torque besides. */
function forceText({ n, nm }) {
  if (n === null) return "not known before the next step";
  const digits = v => number(v, v < 99.95 ? v < 9.995 ? 2 : 1 : 0);
  return digits(n) + " N" + (nm ? `, ${digits(nm)} N·m` : "");
}

/** numeric gives the number that a value stands for: those that JSON lacks come as texts. */
const numeric = v => typeof v === "number" ? v : v === "+Inf" ? Infinity : v === "-Inf" ? -Infinity : Number(v);

/** unseen are the characters that control the terminal or the direction of the text around them. */
const unseen = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/**
 * clean makes a text safe to read: what controls the terminal or the direction of the text around it
 * becomes a visible sign, and a long text ends with an ellipsis.
 */
function clean(text, most = 200) {
  const short = text.length > most ? text.slice(0, most).replace(/[\uD800-\uDBFF]$/, "") + "…" : text;
  return short.replace(unseen, "\ufffd");
}

/**
 * errorText makes the error of an answer a text for readers: it leaves out the package that it comes from, and the class
 * of the error where a reason follows.
 */
function errorText(text, most = 400) {
  return clean(text.replace(/^(?:evertick|inspect|inspector|replay|replica|twin|worldlog): /, "").replace(/: (?:out of range|not finite|stale|unsupported|capacity exceeded): (?=.)/g, ": "), most);
}

/** stateWords is what the badge says of a status; link is the state of the source, lost for how many ms it has had no answer. */
function stateWords(status, link, lost) {
  if (link === "gone") return { kind: "bad", text: `gone: no answer for ${seconds(lost)}` };
  if (link !== "connected" || !status) return { kind: "warn", text: link === "connected" ? "connecting" : link };
  switch (status.state) {
    case "stalled": return { kind: "warn", text: `stalled: no tick for ${seconds(status.age_ms)}` };
    case "failed": return { kind: "bad", text: "failed" };
    case "running": case "playing": return { kind: "good", text: status.state };
    case "seeking": return { kind: "warn", text: "seeking" };
    default: return { kind: "soft", text: clean(String(status.state)) };
  }
}

/** filterWords repeats a filter in words, so that a reader sees what the rows are. */
function filterWords(matches, all, has, hasNot, where) {
  const parts = [];
  if (has.length) parts.push("with " + has.map(t => clean(t, 40)).join(" and "));
  if (hasNot.length) parts.push("without " + hasNot.map(t => clean(t, 40)).join(" or "));
  for (const part of where) parts.push(clean(part, 80));
  const words = parts.length ? (has.length + hasNot.length ? " " : " where ") + parts.join(", ") : "";
  return matches === all && !parts.length ? entitiesText(all) : `${number(matches)} of ${entitiesText(all)}${words}`;
}

/**
 * componentsOf names the components of a column as requests name them: NAME[i], or NAME alone if it is the only one. A NAME that itself
 * ends like an index gets one in any case: alone it could be a component of another column.
 */
function componentsOf({ name, components = 1 }) {
  return components < 2 && !/\[\d+\]$/.test(name) ? [name] : Array.from({ length: components }, (_, i) => `${name}[${i}]`);
}

/** nameInWhere is how a condition names a component: in quotes if it has more than letters, digits, points, lines and an index. */
function nameInWhere(component) {
  if (/^[\p{L}\p{N}_.-]+(?:\[\d+\])*$/u.test(component)) return component;
  const [, name, index] = /^(.*?)(\[\d+\])?$/su.exec(component);
  return JSON.stringify(name).replace(unseen, c => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0")) + (index ?? "");
}

/** whereParts splits 'hp > 3 and "rock and roll" is nan' into the conditions that a request carries. */
function whereParts(text) {
  const parts = [];
  for (let rest = text; rest; ) {
    const quoted = /^ *"(?:[^"\\]|\\.)*"/.exec(rest)?.[0].length ?? 0; // what is in quotes parts nothing
    const end = / +and +| *(?:&&|;) */i.exec(rest.slice(quoted)), at = quoted + (end?.index ?? rest.length);
    const part = rest.slice(0, at).replace(/^ +| +$/g, "");
    if (part) parts.push(part);
    rest = end ? rest.slice(at + end[0].length) : "";
  }
  return parts;
}

const entitiesText = n => number(n) + (n === 1 ? " entity" : " entities");

/**
 * rowsInView says which rows of a long list are seen. Browsers limit the height of an element, so a
 * list beyond `most` px scrolls faster than its scroll bar; `offset` is the place of row `first`.
 */
function rowsInView(scroll, view, total, row, most = 8e6) {
  const real = total * row, height = Math.min(real, most);
  const room = height - view, ratio = room > 0 ? Math.max(0, real - view) / room : 0;
  const top = Math.min(Math.max(0, scroll), Math.max(0, room)) * ratio;
  const first = Math.min(Math.floor(top / row), Math.max(0, total - 1));
  return { height, first, count: Math.max(0, Math.min(total - first, Math.ceil(view / row) + 1)), offset: Math.max(0, scroll) - (top - first * row) };
}

/** scrollToRow is the place of the scroll bar at which the row is seen, the present one if it is seen already. */
function scrollToRow(index, scroll, view, total, row, most = 8e6) {
  const real = total * row, room = Math.min(real, most) - view;
  if (room <= 0) return 0;
  const ratio = (real - view) / room, top = scroll * ratio;
  if (index * row < top) return index * row / ratio;
  if ((index + 1) * row > top + view) return ((index + 1) * row - view) / ratio;
  return scroll;
}
