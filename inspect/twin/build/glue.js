// The simulation in a worker of the page. It answers what a server of inspect would: see source.js.
window.evertickTwin = (() => {
  const take = id => {
    const element = document.getElementById(id), text = element.textContent;
    element.remove();
    return text;
  };
  const waiting = new Map(); // by id: functions that resolve
  let last = 0, failed = null;
  const fail = reason => {
    failed = new TextEncoder().encode(JSON.stringify({ error: `The simulation in this page does not run: ${reason}` }));
    for (const id of [...waiting.keys()]) resolve(id, { status: 503, type: "application/json", body: failed.buffer });
  };
  const resolve = (id, answer) => {
    waiting.get(id)?.(answer);
    waiting.delete(id);
  };
  const wasm = take("evertick-wasm"), url = URL.createObjectURL(new Blob([take("evertick-worker")], { type: "text/javascript" }));
  let worker = null;
  try {
    worker = new Worker(url);
    worker.onmessage = ({ data }) => data.failed ? fail(data.failed) : resolve(data.id, data);
    worker.onerror = event => fail(event.message ?? "the worker does not start");
    worker.postMessage({ wasm });
  } catch (e) {
    fail(e.message);
  }
  return {
    /**
     * @param {{method?: string, path: string, body?: string | ArrayBuffer | Uint8Array}} r
     * Takes over the buffer of body.
     * @returns {Promise<{status: number, type: string, body: ArrayBuffer}>}
     */
    request({ method = "GET", path, body }) {
      if (failed) return Promise.resolve({ status: 503, type: "application/json", body: failed.slice().buffer });
      if (typeof body === "string") body = new TextEncoder().encode(body);
      else if (body && !(body instanceof Uint8Array)) body = new Uint8Array(body);
      return new Promise(done => {
        waiting.set(++last, done);
        worker.postMessage({ id: last, method, path, body }, body ? [body.buffer] : []);
      });
    },
  };
})();
