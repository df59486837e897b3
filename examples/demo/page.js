// What the demo adds to the page of inspect: the twin beside the hash, balls, and a key that goes back in the log.

const backTicks = 300; // 5 s: how far the key L goes back

/**
 * startTwin runs the world in a worker: twin is the text of the page that inspect/twin/build has made, of which it takes the program.
 * It returns ask(method, path, body), which resolves with what the program answers.
 */
function startTwin(twin) {
  const html = new DOMParser().parseFromString(twin, "text/html"), text = id => html.getElementById(id).textContent;
  const worker = new Worker(URL.createObjectURL(new Blob([text("evertick-worker")], { type: "text/javascript" })));
  const waiting = new Map(); // by id: [resolve, reject]
  let last = 0;
  const fail = why => {
    for (const [, reject] of waiting.values()) reject(new Error(why));
    waiting.clear();
  };
  worker.onerror = event => fail(event.message ?? "the worker does not start");
  worker.onmessage = ({ data }) => {
    if (data.failed) return fail(data.failed);
    waiting.get(data.id)?.[0](JSON.parse(new TextDecoder().decode(data.body)));
    waiting.delete(data.id);
  };
  worker.postMessage({ wasm: text("evertick-wasm") });
  return (method, path, body) => new Promise((resolve, reject) => {
    waiting.set(++last, [resolve, reject]);
    worker.postMessage({ id: last, method, path, body: body && new TextEncoder().encode(JSON.stringify(body)) });
  });
}

/** showTwin waits until the twin is built, lets it join the server, and shows its hash beside that of the server. */
function showTwin() {
  const box = element(document.querySelector("#top .now"), "div", "hash"), title = element(box, "dt", "", "WebAssembly in this page"), hash = element(box, "dd", "mono");
  hash.id = "demo-twin";
  setText(hash, "is being built …");
  const later = ms => new Promise(done => setTimeout(done, ms));
  const words = { building: "is being built …", none: "not built" };

  async function load() {
    for (;; await later(1000)) {
      const answer = await fetch("twin").catch(() => null);
      if (answer?.headers.get("Content-Type").startsWith("text/html")) return answer.text();
      const { state = "", error = "" } = await answer?.json().catch(() => ({})) ?? {};
      if (state === "failed") throw new Error(error);
      setText(hash, words[state] ?? "waits for the server …");
    }
  }

  async function run() {
    const text = await load();
    setText(hash, "starts …");
    const ask = startTwin(text);
    await ask("POST", "twin", { connect: worldURL(), play: false });
    for (;; await later(250)) {
      const r = await ask("GET", "twin");
      if (!(r.equal + r.different)) {
        setText(hash, r.error ? clean(r.error, 60) : "joins the server …");
        continue;
      }
      box.title = `tick ${r.tick}: here ${r.own}, on the server ${r.server}`;
      setText(title, `WebAssembly in this page · ${r.different ? plural(r.different, "different tick") : plural(r.equal, "equal tick")}`);
      setText(hash, `${r.own} ${r.own === r.server ? "=" : "≠"} at ${number(r.tick)}`);
      hash.classList.toggle("bad", r.different > 0);
    }
  }
  run().catch(err => {
    setText(hash, "does not run");
    box.title = err.message;
    hash.classList.add("bad");
  });
}

/** useBalls throws a ball at what a click in space points at. With Shift a click selects, as it does in a log. */
function useBalls({ app, source }) {
  app.onRay = (ray, event) => {
    if (event.shiftKey || app.of !== "live") return false;
    source.post("throw", ray);
    return true;
  };
}

/** lookDown shows the valley from a hill, the first time and whenever another subject is shown. */
function lookDown({ app }) {
  let looked = false;
  const look = () => {
    const view = window.evertickPage.view3;
    if (looked || !view) return;
    looked = true;
    const { width, height } = view.camera;
    view.look({ target: [7, 0, 3], yaw: 0.95, pitch: 0.45, distance: 60 * Math.max(1, Math.min(1.8, 1.1 * height / width)) });
  };
  app.on("status", look);
  app.on("reset", () => {
    looked = false;
    look();
  });
}

/** useLog goes back in the log with the key L, and to the present with the same key. */
function useLog({ app }) {
  document.addEventListener("keydown", async event => {
    if (event.key !== "l" || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input:not([type=range], [type=checkbox]), select, textarea")) return;
    event.preventDefault();
    if (app.of !== "live") return app.setSubject("live");
    await app.timeline.goTo(Math.max(0, app.tick - backTicks));
    app.timeline.toggle();
  });
}

byId("show-joints").click(); // ragdolls have more of them than one sees
showTwin();
useBalls(window.evertickPage);
lookDown(window.evertickPage);
useLog(window.evertickPage);
element(byId("stage"), "p", "soft", "click: throw a ball · L: five seconds back").id = "demo-hint";
