const calm = matchMedia("(prefers-reduced-motion: reduce)");

/** Outdated ends work on an answer that came after the subject or the simulation had changed. */
class Outdated extends Error {}

/**
 * newApp holds what the panels share: which subject is shown (`of`), its status and schema, the selection.
 * It announces "status", "world", "select", "subject", "tick" and "reset" to those that called on().
 */
function newApp(source) {
  const listeners = new Map();
  let turn = 0; // of the subject: answers to questions of an earlier one are dropped

  const app = {
    source, of: "", status: null, world: null, tick: -1, seq: 0,
    selected: null, // {id, slot}
    following: false,
    onRay: null, // (ray, event) => true if a script that stands beside the page takes a click in space for itself
    on(event, f) {
      if (!listeners.has(event)) listeners.set(event, []);
      listeners.get(event).push(f);
    },
    announce(event) {
      for (const f of listeners.get(event) ?? []) f();
    },

    /** ask returns the answer of the subject as an object; it throws the error of the server, or Outdated. */
    async ask(path, query = {}) {
      const asked = turn, words = new URLSearchParams();
      if (app.of && !query.of) words.set("of", app.of);
      for (const [name, value] of Object.entries(query)) {
        for (const v of Array.isArray(value) ? value : [value]) words.append(name, v);
      }
      const answer = await source.get(`${path}?${words}`);
      if (asked !== turn) throw new Outdated();
      return { status: answer.status, ...checked(answer) };
    },
    /** order posts; it throws the error of the server. */
    order: async (path, body) => checked(await source.post(path, body)),

    setSubject(of) {
      if (of === app.of) return;
      app.of = of;
      app.forget();
      app.announce("subject");
    },
    /** forget drops all that was of another simulation. */
    forget() {
      turn++;
      app.world = null;
      app.tick = -1;
      app.select(null);
      app.announce("reset");
    },
    select(entity, follow = false) {
      app.selected = entity;
      app.following = Boolean(entity) && follow;
      app.announce("select");
    },
    /** selectId selects and follows an entity of which only the id is known, and shows a panel. */
    async selectId(id, tab) {
      try {
        const { slot } = await app.ask("entity", { id });
        app.select({ id, slot }, true);
      } catch (err) {
        if (err instanceof Outdated) return;
        app.select({ id, slot: null }); // the panel says why
        tab = "entity";
      }
      if (tab) app.tabs.show(tab);
    },
    setTick(tick, hash) {
      app.tick = tick;
      app.hash = hash;
      app.announce("tick");
    },
  };
  return app;
}

function checked(answer) {
  if (answer.status >= 200 && answer.status < 300) return answer.json ?? {};
  const err = new Error(errorText(answer.json?.error ?? `The server answers with status ${answer.status}.`));
  err.status = answer.status;
  throw err;
}

/** newPoll calls ask every so many ms while it is on and the page is seen, one call at a time. */
function newPoll(every, ask) {
  let on = false, busy = false, again = false, timer = 0;
  async function run() {
    clearTimeout(timer);
    if (busy) again = true;
    if (busy || !on || document.hidden) return;
    busy = true;
    do {
      again = false;
      await ask();
    } while (again && on);
    busy = false;
    if (on) timer = setTimeout(run, every);
  }
  document.addEventListener("visibilitychange", run);
  return {
    start() {
      on = true;
      run();
    },
    stop() {
      on = false;
      clearTimeout(timer);
    },
    now: run,
  };
}

/** newPanel asks while the panel is shown, and shows an error above its content. */
function newPanel(root, app, every, work) {
  const trouble = element(root, "p", "trouble bad");
  root.prepend(trouble);
  trouble.setAttribute("role", "status");
  trouble.hidden = true;
  const poll = newPoll(every, async () => {
    if (!app.of) return; // the status comes first
    try {
      await work();
      trouble.hidden = true;
    } catch (err) {
      if (err instanceof Outdated || err.status === 0) return; // the badge says that no answer comes
      if (trouble.textContent !== err.message) trouble.textContent = err.message;
      trouble.hidden = false;
    }
  });
  return { show: poll.start, hide: poll.stop, refresh: poll.now };
}

/** setText writes only what differs, so that an unchanged page is not laid out anew. */
function setText(e, text) {
  if (e.textContent !== text) e.textContent = text;
}

/** flash marks a value that changed after it had rested; what changes all the time stays calm. */
function flash(e, now = performance.now()) {
  const rested = now - (e.changedAt ?? 0) > 1500;
  if (rested && e.changedAt !== undefined && !calm.matches) {
    e.animate([{ backgroundColor: getComputedStyle(e).getPropertyValue("--flash") }, { backgroundColor: "transparent" }], { duration: 900 });
  }
  e.changedAt = now;
}

/** newButton adds a button; title explains it. */
function newButton(parent, text, onClick, title = "") {
  const b = element(parent, "button", "", text);
  b.type = "button";
  if (title) b.title = title;
  b.addEventListener("click", onClick);
  return b;
}

/** newCheck adds a checkbox with its label, calls onChange(checked), and returns the checkbox. */
function newCheck(parent, text, checked = false, onChange = () => {}) {
  const label = element(parent, "label", "check"), box = element(label, "input");
  Object.assign(box, { type: "checkbox", checked });
  element(label, "span", "", text);
  box.addEventListener("change", () => onChange(box.checked));
  return box;
}

/** newTabs shows one panel at a time: ARIA tabs, of which the arrow keys choose. */
function newTabs(list, bodies, panels) {
  let shown = -1;
  const tabs = panels.map(({ name, title }, i) => {
    const tab = newButton(list, title, () => show(i));
    tab.id = "tab-" + name;
    tab.setAttribute("role", "tab");
    tab.setAttribute("aria-controls", "panel-" + name);
    return tab;
  });
  const roots = panels.map(({ name }) => {
    const root = element(bodies, "div", "panel panel-" + name);
    root.id = "panel-" + name;
    root.setAttribute("role", "tabpanel");
    root.setAttribute("aria-labelledby", "tab-" + name);
    root.hidden = true;
    return root;
  });
  const made = panels.map((p, i) => p.make(roots[i]));

  function show(i) {
    if (i === shown || i < 0) return;
    const within = roots[shown]?.contains(document.activeElement);
    if (shown >= 0) made[shown].hide();
    shown = i;
    tabs.forEach((tab, k) => {
      tab.setAttribute("aria-selected", k === i);
      tab.tabIndex = k === i ? 0 : -1;
      roots[k].hidden = k !== i;
    });
    if (within) tabs[i].focus(); // where it was is hidden now
    made[i].show();
    remember("panel", panels[i].name);
  }

  list.addEventListener("keydown", event => {
    const n = tabs.length, to = { ArrowRight: (shown + 1) % n, ArrowLeft: (shown + n - 1) % n, Home: 0, End: n - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    show(to);
    tabs[to].focus();
  });
  return {
    show: name => show(panels.findIndex(p => p.name === name)),
    refresh: () => made[shown]?.refresh(),
  };
}

/** newHeader shows name, tick, hash and state, and lets the reader choose the subject. */
function newHeader(app) {
  const badge = byId("state"), subject = byId("subject"), alert = byId("alert");
  const words = { live: "live simulation", log: "log", other: "second log" };
  let lostAt = 0;

  function showState() {
    const link = app.source.state;
    const { kind, text } = stateWords(app.status, link, link === "connected" ? 0 : performance.now() - lostAt);
    setText(badge, text);
    badge.className = "badge " + kind;
    const failure = link === "connected" && app.status?.error ? errorText(app.status.error, 1000) : "";
    setText(alert, failure && (app.of === "live" ? "The simulation failed: " : "The log cannot be played: ") + failure);
    alert.hidden = !failure;
  }

  function showTick() {
    setText(byId("tick"), app.tick < 0 ? "–" : number(app.tick));
    setText(byId("hash"), app.tick < 0 ? "–" : clean(String(app.hash)));
  }

  function showSubjects() {
    const { subjects = [] } = app.status;
    if (subjects.join() !== [...subject.options].map(o => o.value).join()) {
      subject.replaceChildren();
      for (const of of subjects) subject.add(new Option(words[of] ?? of, of));
    }
    subject.value = app.of;
    subject.hidden = subjects.length < 2;
  }

  function showName() {
    const s = app.status, name = clean(s.name || "simulation", 120);
    setText(byId("name"), name);
    document.title = name + " · inspect";
    const facts = { "simulation version": s.sim_version, "built with": s.go, "kernel level": s.level, workers: s.workers,
      rate: s.rate_hz && number(s.rate_hz) + " Hz", axes: s.axes_note ?? (s.plane && s.plane.join(" to the right, ") + " up"),
      "inspection takes": s.inspection_ns !== undefined && duration(s.inspection_ns) + " per tick",
      dropped: s.frame && plural(s.frame.dropped_total ?? 0, "step") };
    const list = byId("about");
    list.replaceChildren();
    for (const [title, value] of Object.entries(facts)) {
      if (value === undefined || value === "" || value === false) continue;
      element(list, "dt", "", title);
      element(list, "dd", "", clean(String(value)));
    }
  }

  const poll = newPoll(500, async () => {
    try {
      const status = await app.ask("status");
      app.status = status;
      if (!app.of || !(status.subjects ?? [app.of]).includes(app.of)) app.setSubject(status.of ?? status.subjects?.[0] ?? "live");
      showSubjects();
      showName();
      if (performance.now() - (app.frameAt ?? -1e9) > 1000) app.setTick(status.tick, status.hash); // no frames come: the status is newer
      app.announce("status");
    } catch { /* the badge says it */ }
    showState();
  });
  subject.addEventListener("change", () => app.setSubject(subject.value));
  app.source.onState(state => {
    if (state !== "connected") lostAt ||= performance.now(); else lostAt = 0;
    showState();
  });
  app.on("tick", showTick);
  poll.start();
  return poll;
}

/** newDivider lets the reader choose the width of the panels, by pointer or arrow keys. */
function newDivider(main, divider) {
  let share = Number(remembered("share")) || 40; // percent
  function set(value) {
    share = Math.min(80, Math.max(20, value));
    main.style.setProperty("--share", share + "%");
    divider.setAttribute("aria-valuenow", Math.round(share));
    remember("share", share);
  }
  divider.addEventListener("pointerdown", event => {
    divider.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  divider.addEventListener("pointermove", event => {
    if (!divider.hasPointerCapture(event.pointerId)) return;
    const box = main.getBoundingClientRect();
    set(100 * (box.right - event.clientX) / box.width);
  });
  divider.addEventListener("keydown", event => {
    const by = { ArrowLeft: 2, ArrowRight: -2 }[event.key];
    if (by) set(share + by), event.preventDefault();
  });
  set(share);
}

/** newWorldView asks for frames and draws them, with the tools above the canvas. */
function newWorldView(app) {
  const note = byId("view-note"), by = byId("by");
  const overlays = { contacts: false, joints: true, velocities: false, boxes: false };
  const plane = newView(byId("world"), { onPick: (x, y, r) => pick({ x, y, r }), onFollow });
  let space = null, inSpace = false; // the view in space, from when it was shown first
  let seen = true, entities = -1;
  const view = () => inSpace ? space : plane;

  function newSpaceView() {
    return newView3(byId("world3"), {
      onPick(ray, r, event) {
        const { origin: [x, y, z], direction: [dx, dy, dz] } = ray;
        if (!app.onRay?.(ray, event)) pick({ space: 1, x, y, z, dx, dy, dz, r });
      },
      onFollow, onProblem: say,
      async geometry(id) {
        const answer = await app.source.get(`geometry?${new URLSearchParams({ of: app.of, id })}`);
        if (!answer.bytes) checked(answer);
        return answer.bytes;
      },
    });
  }

  /** showDimension shows the plane or space. */
  function showDimension(wanted) {
    inSpace = wanted;
    byId("plane").hidden = inSpace;
    byId("space").hidden = !inSpace;
    byId("in-plane").setAttribute("aria-pressed", !inSpace);
    byId("in-space").setAttribute("aria-pressed", inSpace);
    if (inSpace) space ??= newSpaceView();
    showSelection();
    ask();
  }
  function choose(wanted) {
    remember("dimension", wanted ? "3" : "2");
    showDimension(wanted);
  }
  byId("in-plane").addEventListener("click", () => choose(false));
  byId("in-space").addEventListener("click", () => choose(true));

  /** offerSpace lets the reader choose where there are bodies in space, and shows them first if none is in the plane. */
  function offerSpace() {
    const s = app.status, offered = Boolean(s.space);
    if (offered === !byId("dimension").hidden) return;
    byId("dimension").hidden = !offered;
    const kept = remembered("dimension");
    showDimension(offered && (kept ? kept === "3" : !s.in_plane));
  }

  async function pick(query) {
    try {
      const hit = await app.ask("pick", query);
      app.select(hit.id ? { id: hit.id, slot: hit.slot } : null);
      if (hit.id) app.tabs.show("entity");
    } catch (err) {
      if (!(err instanceof Outdated)) say(err.message);
    }
  }

  function say(text) {
    setText(note, errorText(text));
    note.hidden = !text;
  }

  const frames = app.source.frames({
    onFrame(frame) {
      app.frameAt = performance.now();
      app.setTick(frame.head.tick, frame.head.hash);
      entities = frame.head.entities;
      showFigures();
      return Boolean(frame.head.space) === inSpace && view().load(frame);
    },
    onProblem: say,
  });

  function showFigures() {
    const s = app.status, bodies = s?.bodies ? ` · ${number(s.bodies)} bodies · ${number(s.contacts ?? 0)} contacts` : "";
    setText(byId("view-figures"), entities < 0 ? "" : entitiesText(entities) + bodies);
  }

  function ask() {
    if (!app.of || !seen) return frames.ask(null);
    const query = new URLSearchParams({ of: app.of });
    for (const [name, value] of new URLSearchParams(by.value)) query.set(name, value); // by or tag
    for (const [name, on] of Object.entries(overlays)) if (on) query.set(name, 1);
    if (inSpace) query.set("space", 1);
    if (Number.isInteger(app.selected?.slot)) query.set("selected", app.selected.slot);
    frames.ask(query.toString());
  }

  for (const name of Object.keys(overlays)) {
    newCheck(byId("shown"), name, overlays[name], on => {
      overlays[name] = on;
      ask();
    }).id = "show-" + name;
  }
  by.addEventListener("change", ask);
  byId("fit").addEventListener("click", () => fit());
  function fit() {
    view().follow(null);
    onFollow();
    view().fit();
  }

  function onFollow() { // the reader has moved away
    app.following = false;
    app.announce("follow");
  }

  function showChoices() {
    const was = by.value;
    by.replaceChildren(new Option("one colour", ""));
    const columns = new Option("columns"), tags = new Option("tags");
    columns.disabled = tags.disabled = true;
    const names = namesOfEntities(app);
    if (names.length) by.add(columns);
    const choice = (kind, name) => new Option(clean(name, 60), new URLSearchParams({ [kind]: name }).toString());
    for (const name of names) by.add(choice("by", name));
    if (app.world?.tags?.length) by.add(tags);
    for (const t of app.world?.tags ?? []) by.add(choice("tag", t.name));
    by.value = was;
    if (by.selectedIndex < 0) by.value = "", ask();
  }

  app.on("world", showChoices);
  function showSelection() {
    view().select(app.selected?.slot ?? null);
    view().follow(app.following ? app.selected.slot : null);
  }
  app.on("select", () => {
    showSelection();
    ask(); // for what is drawn of the selected body
  });
  app.on("subject", ask);
  app.on("reset", () => {
    plane.reset();
    space?.reset();
    entities = -1;
    showFigures();
  });
  app.on("status", offerSpace);
  app.on("status", showFigures); // which is newer than the last frame of a simulation that pauses
  new IntersectionObserver(entries => {
    seen = entries.at(-1).isIntersecting;
    ask();
  }).observe(byId("stage"));
  return { view: plane, fit, get space() { return space; } };
}

/** namesOfEntities names the components of all columns of entities; bodies and states have others. */
const namesOfEntities = app => (app.world?.columns ?? []).filter(c => c.owner === "world").flatMap(componentsOf);

/** componentName names one component; the schema says whether the column has several. */
function componentName(app, name, component) {
  const column = app.world?.columns?.find(c => c.name === name);
  return column && component < column.components ? componentsOf(column)[component] : name + (component > 0 ? `[${component}]` : "");
}

/** loadSchema asks for the columns and tags of a subject until it has them. */
function loadSchema(app) {
  const poll = newPoll(2000, async () => {
    try {
      app.world = await app.ask("world");
      app.announce("world");
      poll.stop();
    } catch { /* asked again */ }
  });
  app.on("subject", poll.start);
  app.on("reset", () => app.of && poll.start());
}

/** useKeys handles the keys of the page; those of fields and buttons are theirs. */
function useKeys(app, worldView, timeline) {
  const help = byId("help");
  byId("help-button").addEventListener("click", () => help.showModal());
  byId("help-close").addEventListener("click", () => help.close());
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || help.open) return;
    const at = event.target, types = at.matches("input:not([type=range], [type=checkbox]), select, textarea");
    if (types || event.key === " " && at.matches("button, [type=checkbox], summary, a")) return;
    const work = { " ": timeline.toggle, ".": () => timeline.step(1), ",": () => timeline.step(-1), f: worldView.fit, "?": () => help.showModal(), Escape: () => app.select(null) }[event.key];
    if (!work) return;
    event.preventDefault();
    work();
  });
}

function startPage() {
  const source = newSource(), app = newApp(source);
  theme(remembered("theme") ?? "auto", name => remember("theme", name));
  newDivider(byId("main"), byId("divider"));
  const worldView = newWorldView(app);
  app.timeline = newTimelinePanel(byId("timeline"), source, app);
  const panels = [
    ["entity", "Entity", newEntityPanel], ["entities", "Entities", newEntitiesPanel], ["columns", "Columns", newColumnsPanel],
    ["systems", "Systems", newSystemsPanel], ["events", "Events", newEventsPanel], ["trace", "Trace", newTracePanel],
    ["queues", "Queues", newQueuesPanel], ["diff", "Diff", newDiffPanel],
  ].map(([name, title, make]) => ({ name, title, make: root => make(root, source, app) }));
  if (window.evertickTwin && typeof newTwinPanel === "function") {
    panels.unshift({ name: "twin", title: "Twin", make: root => newTwinPanel(root, source, app) });
  }
  loadSchema(app);
  app.tabs = newTabs(byId("tabs"), byId("panel-list"), panels);
  const kept = remembered("panel");
  app.tabs.show(panels.some(p => p.name === kept) ? kept : window.evertickTwin ? "twin" : "entities");
  const header = newHeader(app);
  source.onRun((run, first) => {
    if (first) return;
    app.forget();
    header.now();
    app.tabs.refresh();
    app.timeline.refresh();
  });
  app.on("subject", () => app.tabs.refresh());
  useKeys(app, worldView, app.timeline);
  app.timeline.show();
  window.evertickPage = { view: worldView.view, get view3() { return worldView.space; }, source, app };
}

startPage();
