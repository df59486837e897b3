const rates = [0.1, 0.25, 0.5, 1, 2, 4, 16, 64]; // times the rate of the simulation

const icons = {
  play: "M6 4l12 8-12 8z", pause: "M6 4h4v16H6zM14 4h4v16h-4z",
  back: "M6 4h3v16H6zM20 4v16L10 12z", on: "M15 4h3v16h-3zM4 4v16l10-8z",
};

function iconButton(parent, id, icon, name, onClick) {
  const b = newButton(parent, "", onClick, name);
  b.id = id;
  b.className = "icon";
  const svg = draw(b, "svg", { viewBox: "0 0 24 24", "aria-hidden": "true" });
  draw(svg, "path", { d: icons[icon] });
  b.setAttribute("aria-label", name);
  return b;
}

/** newSeeker sends one seek at a time; of those that come meanwhile only the last is sent. */
function newSeeker(send, pause = 60) {
  let wanted = null, busy = false;
  return async function seek(to) {
    wanted = to;
    if (busy) return;
    busy = true;
    while (wanted !== null) {
      const next = wanted;
      wanted = null;
      await send(next);
      await new Promise(done => setTimeout(done, pause));
    }
    busy = false;
  };
}

/** timeText is the text beside the timeline. */
function timeText(tick, last, dt) {
  if (tick < 0) return "no tick yet";
  const of = last >= 0 ? " of " + number(last) : "", at = dt > 0 ? " · " + seconds(tick * dt * 1000) : "";
  return `tick ${number(tick)}${of}${at}`;
}

/** newTimelinePanel moves the log and pauses the live simulation. */
function newTimelinePanel(root, source, app) {
  const progress = element(element(root, "div", "seek-line"), "div", "seek-bar");
  const rail = element(root, "div", "rail"), marks = draw(rail, "svg", { class: "marks", "aria-hidden": "true", preserveAspectRatio: "none" });
  const scrub = element(rail, "input", "scrub");
  Object.assign(scrub, { id: "scrub", type: "range", min: 0, max: 0, step: 1 });
  scrub.setAttribute("aria-label", "Tick");
  const row = element(root, "div", "moves"), buttons = element(row, "div", "group");
  const back = iconButton(buttons, "step-back", "back", "One tick back (,)", () => step(-1));
  const pause = iconButton(buttons, "pause", "pause", "Pause", toggle), play = iconButton(buttons, "play", "play", "Play (space)", toggle);
  const on = iconButton(buttons, "step", "on", "One tick on (.)", () => step(1));
  const rate = element(row, "select");
  rate.id = "rate";
  rate.setAttribute("aria-label", "Speed");
  for (const r of rates) rate.add(new Option(`${r}×`, r, r === 1, r === 1));
  const live = newButton(row, "Live", () => app.setSubject("live"), "Show the live simulation");
  live.id = "live";
  const text = element(row, "p", "time"), jump = element(row, "select", "jump"), note = element(root, "p", "note bad");
  text.id = "time";
  jump.setAttribute("aria-label", "Go to a mark");
  jump.hidden = true;
  note.setAttribute("role", "status");
  const why = {}; // by the id of a button: why it does nothing, or ""
  let state = null, held = false, drawn = "";

  const log = () => isLive() ? null : app.of === "other" ? state?.other : state?.log; // that is shown
  const isLive = () => app.of === "live";
  const target = () => isLive() && state?.log ? "log" : app.of; // the timeline of a live simulation is that of its log

  async function order(body) {
    try {
      await app.order("timeline", body);
      setText(note, logTrouble());
    } catch (err) {
      setText(note, err.message);
    }
    panel.refresh();
  }

  const seek = newSeeker(to => order({ of: app.of, seek: to }));

  /** refused says for a while why a button does nothing, and returns whether it does nothing. */
  function refused(button) {
    const reason = why[button.id];
    clearTimeout(note.timer);
    if (reason) note.timer = setTimeout(() => setText(note, logTrouble()), 6000);
    setText(note, reason || logTrouble());
    return Boolean(reason);
  }

  /** logTrouble says what is wrong with the log that is shown. */
  function logTrouble() {
    const l = log();
    if (l?.error) return (hasFailed() ? "The log cannot be played: " : "The log is damaged: ") + errorText(l.error);
    return l?.torn ? "The log ends early: " + errorText(String(l.torn)) : "";
  }

  const hasFailed = () => app.status?.state === "failed";

  function toggle() {
    if (refused(isLive() ? pause : play)) return;
    if (isLive()) order({ of: "live", pause: !state?.paused });
    else order({ of: app.of, play: log()?.playing ? 0 : speed() });
  }

  function step(n) {
    if (refused(n < 0 ? back : on)) return;
    order(isLive() ? { of: "live", step: n } : { of: app.of, step: n });
  }

  const speed = () => Number(rate.value) * (app.status?.rate_hz || 60);

  function goTo(tick, of = "") {
    const to = of || (isLive() ? "log" : app.of);
    app.setSubject(to);
    return seek(tick);
  }

  scrub.addEventListener("input", () => {
    held = true;
    clearTimeout(scrub.timer);
    scrub.timer = setTimeout(() => { held = false; }, 400); // then the bar follows the log again
    const to = Number(scrub.value);
    showTime(to);
    goTo(to, target());
  });
  rate.addEventListener("change", () => {
    if (log()?.playing) order({ of: app.of, play: speed() });
  });
  jump.addEventListener("change", () => {
    if (jump.value !== "") goTo(Number(jump.value), target());
    jump.selectedIndex = 0;
  });
  tips(rail, x => {
    const l = log() ?? state?.log;
    if (!l || !(l.last > l.first)) return null;
    const width = rail.clientWidth, near = (l.marks ?? []).find(m => Math.abs(placeOf(m.tick, l, width) - x) < 5);
    const tick = Math.round(l.first + (l.last - l.first) * Math.min(1, Math.max(0, (x - thumb / 2) / (width - thumb))));
    return near ? ["tick " + number(near.tick), clean(near.text, 160)] : ["tick " + number(tick)];
  });

  const thumb = 16; // px: the middle of the thumb moves across the width less this
  const placeOf = (tick, l, width) => thumb / 2 + (width - thumb) * (tick - l.first) / (l.last - l.first);

  function drawMarks(l) {
    const width = rail.clientWidth, key = l ? [width, l.first, l.last, l.snapshots?.length, l.marks?.length].join() : "";
    if (key === drawn) return;
    drawn = key;
    marks.replaceChildren();
    jump.replaceChildren(new Option("go to a mark …", ""));
    jump.hidden = !l?.marks?.length;
    if (!l || !(l.last > l.first)) return;
    marks.setAttribute("viewBox", `0 0 ${width} 10`);
    const path = (ticks, top, bottom) => [...new Set(ticks.map(t => round(placeOf(t, l, width))))].map(x => `M${x} ${top}V${bottom}`).join("");
    draw(marks, "path", { class: "snapshots", d: path(l.snapshots ?? [], 6, 10) });
    draw(marks, "path", { class: "named", d: path((l.marks ?? []).map(m => m.tick), 0, 10) });
    for (const m of (l.marks ?? []).slice(0, 500)) jump.add(new Option(`${number(m.tick)} · ${clean(m.text, 60)}`, m.tick));
  }

  function showTime(tick) {
    const l = log();
    const shown = timeText(tick, l ? l.last : -1, app.status?.dt ?? 0);
    setText(text, shown);
    scrub.setAttribute("aria-valuetext", shown);
  }

  function enable(button, reason, name) {
    why[button.id] = reason;
    button.setAttribute("aria-disabled", Boolean(reason));
    button.title = reason || name;
  }

  function show() {
    const l = log(), scale = l ?? state?.log, playing = Boolean(l?.playing), paused = Boolean(state?.paused);
    const watching = state && !state.control ? "This simulation allows pages to look, not to pause or step it." : hasFailed() ? "The simulation has failed, so no tick follows." : "";
    const failed = hasFailed() ? logTrouble() : "";
    pause.hidden = !isLive();
    play.hidden = isLive();
    rate.hidden = isLive();
    live.hidden = !state?.live || !(state.log || state.other);
    live.setAttribute("aria-pressed", isLive());
    enable(pause, watching, paused ? "Resume (space)" : "Pause (space)");
    enable(play, failed, playing ? "Stop (space)" : "Play (space)");
    enable(back, isLive() ? "A live simulation does not run backwards" + (state?.log ? ": choose its log." : ".") : failed, "One tick back (,)");
    enable(on, isLive() ? watching : failed, "One tick on (.)");
    pause.setAttribute("aria-label", paused ? "Resume" : "Pause");
    play.setAttribute("aria-label", playing ? "Stop" : "Play");
    pause.querySelector("path").setAttribute("d", paused ? icons.play : icons.pause);
    play.querySelector("path").setAttribute("d", playing ? icons.pause : icons.play);
    showScale(l, scale);
    drawMarks(scale);
    const seeking = l?.seeking, share = seeking ? Math.abs((seeking.at - seeking.from) / (seeking.to - seeking.from || 1)) : 0;
    progress.style.width = 100 * Math.min(1, share) + "%";
    progress.hidden = !seeking;
    if (logTrouble()) setText(note, logTrouble());
  }

  function showScale(l, scale) {
    const tick = l ? l.seeking?.to ?? l.at : app.tick;
    scrub.disabled = !scale;
    scrub.title = scale ? "" : "There is no log to move in.";
    if (held) return;
    if (scale) {
      scrub.min = scale.first;
      scrub.max = Math.max(scale.last, isLive() ? app.tick : 0);
    } else {
      scrub.min = 0;
      scrub.max = Math.max(0, app.tick);
    }
    scrub.value = Math.max(0, tick);
    showTime(l && app.tick >= 0 && !l.seeking ? app.tick : tick);
  }

  const poll = newPanel(root, app, 500, async () => {
    const asked = app.of;
    const answer = await app.ask("timeline");
    if (asked !== app.of) return;
    state = answer;
    show();
  });
  const quick = setInterval(() => { // a seek moves on faster than the panel asks otherwise
    if (!document.hidden && log()?.seeking) poll.refresh();
  }, 100);
  const panel = { ...poll, toggle, step, goTo, seek, close: () => clearInterval(quick), get state() { return state; } };
  app.on("tick", () => {
    if (!log()?.seeking) showScale(log(), log() ?? state?.log);
  });
  app.on("subject", () => { show(); panel.refresh(); });
  app.on("reset", () => setText(note, ""));
  new ResizeObserver(() => drawMarks(log() ?? state?.log)).observe(rail);
  return panel;
}
