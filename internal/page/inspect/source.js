// The source of all that the page shows: the server of the page, or the worker beside it.

const firstWaitMs = 100, longestWaitMs = 2000; // between tries while no answer comes
const silentAfterMs = 2000; // without an answer while a request waits; status, which is asked for twice a second, never waits for the simulation
const goneAfterMs = 15000; // without an answer: the page then says that the simulation is gone, and goes on trying
const timeoutMs = 10000;

/**
 * newSource returns the one way of the page to the simulation.
 *
 * get and post resolve with {status, json} or {status, bytes}. They never reject: without an answer, status
 * is 0 and json is {error}. state is "connecting", "connected", "reconnecting" or "gone". run is the last
 * seen identity of the simulation: when it changes, all that the page holds is out of date.
 */
function newSource() {
  const ask = window.evertickTwin ? askTwin : askServer;
  const onState = [], onRun = [];
  let lost = 0; // since when there is no answer; 0: there is
  let heard = 0; // when the last answer came

  function setState(state) {
    if (source.state === state) return;
    source.state = state;
    for (const f of onState) f(state);
  }

  function sawRun(run) {
    if (typeof run !== "string" || run === source.run) return;
    const first = source.run === "";
    source.run = run;
    for (const f of onRun) f(run, first);
  }

  function setLost(since) {
    lost ||= since;
    setState(performance.now() - lost > goneAfterMs ? "gone" : "reconnecting");
  }

  /** listen notices that no request is answered, though none fails: a machine that is gone, or a process that was stopped. */
  function listen(asked) {
    const wait = { timer: 0 };
    const start = ms => { wait.timer = setTimeout(look, ms); };
    const look = () => {
      const since = Math.max(heard, asked), left = since + silentAfterMs - performance.now();
      if (left > 0) return start(left);
      if (source.state === "connected") setLost(since); // the first answer may take long
    };
    start(silentAfterMs);
    return wait;
  }

  async function request(method, path, body, signal) {
    let answer;
    const wait = listen(performance.now());
    try {
      answer = await ask(method, path, body, signal);
    } catch (err) {
      if (signal?.aborted) return { status: 0, json: { error: "the request was cancelled" } };
      setLost(performance.now());
      return { status: 0, json: { error: `no answer from the simulation: ${err.message}` } };
    } finally {
      clearTimeout(wait.timer);
    }
    lost = 0;
    heard = performance.now();
    setState("connected");
    const { status, type, body: bytes } = answer;
    if (!type?.startsWith("application/json")) return { status, bytes };
    try {
      const json = JSON.parse(new TextDecoder().decode(bytes));
      if (path.startsWith("status")) sawRun(json.run);
      return { status, json };
    } catch (err) {
      return { status: 0, json: { error: `the answer to ${path} is not JSON: ${err.message}` } };
    }
  }

  const source = {
    state: "connecting",
    run: "",
    get: path => request("GET", path),
    post: (path, body) => request("POST", path, body instanceof ArrayBuffer || ArrayBuffer.isView(body) ? body : JSON.stringify(body)),
    /** frames returns a stream of frames, which asks for none before the first query. */
    frames: handlers => newFrames(source, request, sawRun, handlers),
    /** onState calls f(state) after each change of the state. */
    onState: f => onState.push(f),
    /** onRun calls f(run, first) when the simulation is another one than before. */
    onRun: f => onRun.push(f),
  };
  return source;
}

/** askServer resolves with {status, type, body}, and rejects if no answer comes. */
async function askServer(method, path, body, signal) {
  const control = new AbortController(), stop = () => control.abort();
  const timer = setTimeout(() => control.abort(new Error(`none within ${timeoutMs / 1000} s`)), timeoutMs);
  signal?.addEventListener("abort", stop);
  try {
    const headers = typeof body === "string" ? { "Content-Type": "application/json" } : body ? { "Content-Type": "application/octet-stream" } : {};
    const answer = await fetch(path, { method, body, headers, cache: "no-store", signal: control.signal });
    return { status: answer.status, type: answer.headers.get("Content-Type"), body: await answer.arrayBuffer() };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  }
}

/** askTwin is askServer for a page in which the simulation itself runs. A request there cannot be cancelled. */
function askTwin(method, path, body) {
  return window.evertickTwin.request({ method, path, body });
}

/**
 * newFrames returns the stream of frames of source.frames: one request at a time, none while the page is
 * hidden, the next one after the promise of onFrame(frame) has resolved. frame.by names the values of its
 * section by. onProblem(text) says why there is no frame, and "" when there is one again.
 */
function newFrames(source, request, sawRun, { onFrame, onProblem = () => {} }) {
  let query = null; // what to ask for; null: nothing
  let seq = 0, slotsVersion = null; // of the last frame of this query
  let control = new AbortController(), wake = () => {};
  let failures = 0, problem = "";

  const idle = () => query === null || document.hidden;
  const sleep = ms => new Promise(resolve => {
    wake = resolve;
    if (ms) setTimeout(resolve, ms);
  });

  function forget() {
    seq = 0;
    slotsVersion = null;
  }

  function report(text) {
    if (text !== problem) onProblem(problem = text);
  }

  /** next asks once, and returns how long to wait before the next request, in milliseconds. */
  async function next() {
    const asked = query, start = performance.now();
    control = new AbortController();
    const have = slotsVersion === null ? "" : `&have=${slotsVersion}`;
    const { status, json, bytes } = await request("GET", `frame?after=${seq}${have}${asked && "&" + asked}`, undefined, control.signal);
    if (control.signal.aborted) return 0;
    failures = status === 0 ? failures + 1 : 0;
    if (status === 0) {
      forget(); // the next answer may be of another run, which counts its frames anew
      return Math.min(firstWaitMs * 2 ** (failures - 1), longestWaitMs);
    }
    if (status === 204) return performance.now() - start < 20 ? firstWaitMs : 0; // the server should have waited
    if (status !== 200) {
      report(json?.error ?? `The server answers with status ${status}.`);
      return json?.stalled ? firstWaitMs : 1000;
    }
    const frame = readFrame(bytes), another = frame.head.run !== source.run;
    sawRun(frame.head.run);
    if (another && have) { // the slots that it may leave out are those of another run
      forget();
      return 0;
    }
    const { by = "", tag = by } = Object.fromEntries(new URLSearchParams(asked));
    frame.by = tag;
    await onFrame(frame);
    if (control.signal.aborted) return 0;
    seq = frame.head.seq;
    slotsVersion = frame.head.slots_version ?? null;
    report("");
    return 0;
  }

  async function loop() {
    for (;;) {
      if (idle()) {
        await sleep();
        continue;
      }
      let wait;
      try {
        wait = await next();
      } catch (err) {
        report(err.message);
        forget();
        wait = 1000;
      }
      if (wait) await sleep(wait);
    }
  }

  function restart() {
    control.abort();
    wake();
  }

  document.addEventListener("visibilitychange", restart);
  source.onRun(forget);
  loop();
  return {
    /** ask sets the parameters of the requests, as in "of=live&by=hp"; null stops them. */
    ask(wanted) {
      if (wanted === query) return;
      query = wanted;
      forget();
      restart();
    },
  };
}
