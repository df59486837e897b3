// The simulation in the page: the server that it joins, its hashes beside those of the server, a log that is dropped on
// the page, and the pad of a player.

const mostDropBytes = 2 ** 30;

/** newTwinPanel is the panel of a page that window.evertickTwin answers. */
function newTwinPanel(root, source, app) {
  const form = element(root, "form", "twin-join"), field = element(form, "label", "field");
  element(field, "span", "", "server");
  const url = element(field, "input", "mono");
  Object.assign(url, { id: "twin-url", type: "text", spellcheck: false, placeholder: "ws://host:port/world" });
  const watch = newButton(form, "Watch", () => join(false)), play = newButton(form, "Play", () => join(true));
  const leave = newButton(form, "Leave", () => order("twin", { disconnect: true }));
  watch.type = "submit";
  form.addEventListener("submit", event => event.preventDefault());
  watch.id = "twin-watch";
  play.id = "twin-play";
  leave.id = "twin-leave";
  play.hidden = true;
  const trouble = element(root, "p", "trouble bad");
  trouble.id = "twin-trouble";
  trouble.setAttribute("role", "status");
  trouble.hidden = true;
  const facts = newTwinFacts(root), pad = newPad(byId("stage"), source);
  const drop = newDropZone(root, source, async open => {
    const answer = await open();
    if (answer.log_error) throw new Error(answer.log_error);
    show(answer);
    app.setSubject("log");
  });
  let known = null, followed = 0, asked = "";

  async function order(path, body) {
    asked = "";
    try {
      show(await app.order(path, body));
    } catch (err) {
      asked = err.message;
      showTrouble();
    }
    poll.now();
  }

  function join(playing) {
    followed = 0;
    app.setSubject("live");
    return order("twin", { connect: url.value.trim(), play: playing });
  }

  function showTrouble() {
    const text = asked || drop.problem || known?.error || known?.log_error || "";
    setText(trouble, errorText(text && known?.state === "waiting" ? `${text}. Trying again in ${duration(1e6 * known.retry_ms)}.` : text, 600));
    trouble.hidden = !text;
  }

  function show(report) {
    if (!known && !url.value) url.value = report.proposed_url || worldURL();
    known = report;
    play.hidden = !report.can_play;
    leave.hidden = report.state === "alone";
    facts(report);
    showTrouble();
    const playing = report.playing && report.state === "joined";
    pad.use(playing);
    if (playing && report.owner && app.of === "live" && report.session !== followed) follow(report);
  }

  /** follow selects the entity of the player, when there is one. */
  async function follow({ owner, session }) {
    try {
      const { rows } = await app.ask("entities", { where: `${owner}==${session}`, count: 1 });
      if (!rows?.length || followed === session) return;
      followed = session;
      app.select({ id: rows[0].id, slot: rows[0].slot }, true);
    } catch { /* with the next report */ }
  }

  app.on("reset", () => followed = 0); // the selection is gone
  const poll = newPoll(250, async () => {
    try {
      show(checked(await source.get("twin")));
    } catch (err) {
      known = null;
      asked = err.message;
      showTrouble();
    }
  });
  poll.start(); // also while another panel is shown: the pad must know
  return { show() {}, hide() {}, refresh: poll.now };
}

/** worldURL proposes the address of the host of the page, with the path of examples/server. */
function worldURL() {
  return /^https?:$/.test(location.protocol) ? `${location.protocol.replace("http", "ws")}//${location.host}/world` : "ws://127.0.0.1:7777/world";
}

/** newTwinFacts returns a function that shows a report. */
function newTwinFacts(root) {
  const words = { alone: "not connected", connecting: "connecting", joined: "joined", waiting: "connection lost", refused: "refused" };
  const facts = [
    ["state", "state", r => words[r.state] + (r.state === "joined" ? r.playing ? ", playing" : ", watching" : "")],
    ["tick", "tick", r => number(r.tick)],
    ["own", "hash here", r => r.equal + r.different ? r.own : "–"],
    ["server", "hash of the server", r => r.equal + r.different ? r.server : "–"],
    ["equal", "equal hashes", r => number(r.equal)],
    ["different", "different hashes", r => number(r.different) + (r.last_different ? `, the last after tick ${number(r.last_different.tick)}` : "")],
    ["snapshots", "snapshots", r => number(r.snapshots)],
    ["joins", "connections", r => number(r.joins)],
    ["bytes", "received", r => `${bytesText(r.bytes_per_second)}/s`],
    ["trip", "round trip", r => r.round_trip_ms ? duration(1e6 * r.round_trip_ms) : "–"],
    ["ahead", "prediction runs ahead by", r => r.playing ? plural(r.ahead, "tick") : "–"],
    ["rolled", "ticks predicted again", r => r.playing ? number(r.rolled) : "–"],
  ];
  const list = element(root, "dl", "facts twin-facts");
  const values = facts.map(([id, title]) => {
    element(list, "dt", "", title);
    const value = element(list, "dd", "mono");
    value.id = "twin-" + id;
    return value;
  });
  return report => {
    facts.forEach(([, , text], i) => setText(values[i], text(report)));
    values[3].classList.toggle("bad", report.own !== report.server);
    values[5].classList.toggle("bad", report.different > 0);
  };
}

/**
 * newDropZone takes the files of a log: dropped anywhere on the page, or chosen. opened(open) is called with a function that
 * opens what has come.
 */
function newDropZone(root, source, opened) {
  const zone = element(root, "div", "twin-drop");
  zone.id = "twin-drop";
  element(zone, "p", "", "Drop the folder of a log here, or two folders to compare. The files stay on this machine.");
  for (const [id, title, folder] of [["twin-folder", "Choose a folder", true], ["twin-files", "Choose files", false]]) {
    const label = element(zone, "label", "file"), input = element(label, "input");
    Object.assign(input, { id, type: "file", multiple: true, webkitdirectory: folder });
    element(label, "span", "", title);
    input.addEventListener("change", () => take([...input.files].map(file => ({ path: file.webkitRelativePath || file.name, file }))));
  }
  const progress = element(zone, "p", "soft");
  progress.setAttribute("role", "status");

  document.addEventListener("dragover", event => {
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    zone.classList.add("over");
  });
  document.addEventListener("dragleave", event => event.relatedTarget || zone.classList.remove("over"));
  document.addEventListener("drop", async event => {
    zone.classList.remove("over");
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    const entries = [...event.dataTransfer.items].map(item => item.webkitGetAsEntry?.()).filter(Boolean), files = [];
    for (const entry of entries) await collect(entry, files);
    await take(files);
  });

  /** collect adds the files of an entry of the file system, and of the folders in it. */
  async function collect(entry, files) {
    if (entry.isFile) {
      files.push({ path: entry.fullPath, file: await new Promise((done, failed) => entry.file(done, failed)) });
      return;
    }
    const reader = entry.createReader();
    for (;;) { // a call returns some of them
      const some = await new Promise((done, failed) => reader.readEntries(done, failed));
      if (!some.length) return;
      for (const e of some) await collect(e, files);
    }
  }

  const drop = { problem: "" };
  async function take(files) {
    drop.problem = "";
    try {
      const bytes = files.reduce((sum, { file }) => sum + file.size, 0);
      if (bytes > mostDropBytes) throw new Error(`These files have ${bytesText(bytes)}; a page can take ${bytesText(mostDropBytes)}.`);
      for (const [i, { path, file }] of files.entries()) {
        setText(progress, `reading ${i + 1} of ${plural(files.length, "file")}`);
        checked(await source.post("file?name=" + encodeURIComponent(path), await file.arrayBuffer()));
      }
      await opened(async () => checked(await source.post("log", "")));
    } catch (err) {
      drop.problem = err.message;
    }
    setText(progress, "");
  }
  return drop;
}

/** newPad sends what a player does: keys, and a pointer or finger on a disc over the world. */
function newPad(stage, source) {
  const keys = { KeyW: [0, 1], ArrowUp: [0, 1], KeyS: [0, -1], ArrowDown: [0, -1], KeyA: [-1, 0], ArrowLeft: [-1, 0], KeyD: [1, 0], ArrowRight: [1, 0], ShiftLeft: [0, 0], ShiftRight: [0, 0] };
  const disc = element(stage, "div", "twin-pad"), knob = element(disc, "div");
  disc.id = "twin-pad";
  disc.hidden = true;
  disc.setAttribute("aria-hidden", "true"); // the keys do the same
  const held = new Set();
  let pointer = null, buttons = 0, sent = "", sending = false;

  function state() {
    let [x, y] = pointer ?? [0, 0];
    for (const key of held) [x, y] = [x + (keys[key]?.[0] ?? 0), y + (keys[key]?.[1] ?? 0)];
    const length = Math.max(1, Math.hypot(x, y));
    return { x: x / length, y: y / length, buttons: buttons || held.has("ShiftLeft") || held.has("ShiftRight") ? 1 : 0 };
  }

  /** send sends what has changed; what changes meanwhile goes with the next message. */
  async function send() {
    const now = state(), text = JSON.stringify(now);
    knob.style.transform = `translate(${now.x * 60}%, ${-now.y * 60}%)`;
    if (sending || text === sent) return;
    sending = true;
    sent = text;
    await source.post("pad", now);
    sending = false;
    send();
  }

  function release() {
    held.clear();
    pointer = null;
    buttons = 0;
    send();
  }

  function onKey(event) {
    if (disc.hidden || event.ctrlKey || event.metaKey || event.altKey || event.target.matches?.("input, select, textarea, [role=tab], dialog *")) return;
    if (!keys[event.code]) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.type === "keydown") held.add(event.code);
    else held.delete(event.code);
    send();
  }
  window.addEventListener("keydown", onKey, true); // before the keys of the page
  window.addEventListener("keyup", onKey, true);
  window.addEventListener("blur", release);

  function onPointer(event) {
    event.stopPropagation();
    if (event.type === "pointerdown") {
      if (disc.hasPointerCapture(event.pointerId)) return;
      if (pointer) buttons = 1;
      disc.setPointerCapture(event.pointerId);
      event.preventDefault();
    } else if (!disc.hasPointerCapture(event.pointerId)) return;
    const box = disc.getBoundingClientRect();
    pointer = [(event.clientX - box.x) / box.width * 2 - 1, 1 - (event.clientY - box.y) / box.height * 2];
    send();
  }
  disc.addEventListener("pointerdown", onPointer);
  disc.addEventListener("pointermove", onPointer);
  for (const end of ["pointerup", "pointercancel"]) disc.addEventListener(end, release);
  return {
    use(on) {
      if (disc.hidden !== on) return;
      disc.hidden = !on;
      release();
    },
  };
}
