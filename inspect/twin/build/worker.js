// The worker: it follows wasm_exec.js of Go, unpacks the program, runs it, and passes messages to it and back.
let program = null;
const early = []; // messages before the program is ready

let said = ""; // what the program has written last: why it ended
const write = console.log;
console.log = text => {
  said = String(text).slice(0, 500);
  write(text);
};

globalThis.evertickWorker = {
  /** The program is ready: answer takes a message {id, method, path, body}. */
  ready(answer) {
    program = answer;
    for (const message of early.splice(0)) answer(message);
  },
  /** The program answers the message id; body is a Uint8Array. */
  answered(id, status, type, body) {
    postMessage({ id, status, type, body: body.buffer }, [body.buffer]);
  },
};

onmessage = ({ data }) => {
  if (data.wasm) start(data.wasm);
  else if (program) program(data);
  else early.push(data);
};

/** Runs the program: text is base64 of gzip of WebAssembly. */
async function start(text) {
  try {
    const packed = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), c => c.charCodeAt(0));
    const wasm = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
    const go = new Go();
    const response = new Response(wasm, { headers: { "Content-Type": "application/wasm" } });
    const { instance } = await WebAssembly.instantiateStreaming(response, go.importObject);
    await go.run(instance);
    throw new Error("the program has ended");
  } catch (e) {
    program = () => {};
    postMessage({ failed: said || String(e.message ?? e) });
  }
}
