package prove_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick/internal/browser"
	"github.com/evertick/evertick/internal/proof"
)

// page runs a program of Go and sends what it writes back: a recording, or, to another address, its errors.
const page = `<!doctype html><script src="wasm_exec.js"></script><script>
	const out = [], err = [];
	const send = (to, what) => fetch(to, {method: "POST", body: what});
	fs.writeSync = (fd, buf) => { (fd === 1 ? out : err).push(buf.slice()); return buf.length; };
	fs.write = (fd, buf, offset, length, position, callback) => callback(null, fs.writeSync(fd, buf.subarray(offset, offset + length)));
	const go = new Go();
	go.argv = ["prove", "-child", "record", "-ticks", "%d"];
	WebAssembly.instantiateStreaming(fetch("prove.wasm"), go.importObject)
		.then((program) => go.run(program.instance))
		.then(() => out.length ? send("recording", new Blob(out)) : send("failure", new Blob(err)))
		.catch((e) => send("failure", String(e)));
</script>`

// program computes the scene, with bodies in the plane and in space.
const program = "github.com/evertick/evertick/internal/proof/prove"

// A page in Chromium computes the hashes that the program does here.
func TestBrowser(t *testing.T) {
	tab := browser.Start(t, "the scene")
	const ticks = 120
	dir := t.TempDir()
	build := exec.Command("go", "build", "-buildvcs=false", "-o", filepath.Join(dir, "prove.wasm"), program)
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	bodies := make(chan []byte, 1)
	var failure string
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, page, ticks)
	})
	for name, folder := range map[string]string{"wasm_exec.js": filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm"), "prove.wasm": dir} {
		mux.HandleFunc("GET /"+name, func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, filepath.Join(folder, name)) })
	}
	mux.HandleFunc("POST /{what}", func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.PathValue("what") == "failure" {
			failure, body = string(body), nil
		}
		bodies <- body
	})
	server := httptest.NewServer(mux)
	defer server.Close()

	tab.Open(server.URL + "/")
	var got proof.Recording
	select {
	case body := <-bodies:
		if err := got.UnmarshalBinary(body); err != nil {
			t.Fatalf("%v: %s", err, failure)
		}
	case <-time.After(5 * time.Minute):
		t.Fatalf("the page does not answer; it reports %q", tab.Problems())
	}
	out, err := exec.Command("go", "run", "-buildvcs=false", program, "-child", "record", "-ticks", fmt.Sprint(ticks)).Output()
	if err != nil {
		t.Fatal(err)
	}
	var want proof.Recording
	if err := want.UnmarshalBinary(out); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(got.Build, "js/wasm") || len(want.Hashes) != ticks || !slices.Equal(got.Hashes, want.Hashes) {
		tick, _ := proof.FirstDifference(&want, &got)
		t.Errorf("%s: %d hashes, of which one differs from %s: %d", got.Build, len(got.Hashes), want.Build, tick)
	}
}
