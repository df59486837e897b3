package main

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

	"github.com/evertick/evertick/internal/proof"
	"github.com/evertick/evertick/native/paritytest"
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

// A page in Chromium computes the hashes that this process does.
func TestBrowser(t *testing.T) {
	if testing.Short() || paritytest.Instrumented {
		t.Skip("not run: the scene in a browser: this is a short or an instrumented run")
	}
	var chromium string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil && chromium == "" {
			chromium = path
		}
	}
	if chromium == "" {
		t.Skip("not run: the scene in a browser: chromium is not installed")
	}
	const ticks = 120
	dir := t.TempDir()
	if _, err := execute(environ("GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0"), "go", "build", "-buildvcs=false", "-o", filepath.Join(dir, "prove.wasm"), self); err != nil {
		t.Fatal(err)
	}
	root, err := execute(environ(), "go", "env", "GOROOT")
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
	for name, folder := range map[string]string{"wasm_exec.js": filepath.Join(strings.TrimSpace(root), "lib", "wasm"), "prove.wasm": dir} {
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

	home, err := os.MkdirTemp("", "browser") // a child that outlives Chromium may still write there
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(home)
	cmd := exec.Command(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-dev-shm-usage",
		"--user-data-dir="+home, "--remote-debugging-port=0", server.URL+"/") // without a port it would not wait for the page
	cmd.Env = append(os.Environ(), "HOME="+home)
	if err := cmd.Start(); err != nil {
		t.Skipf("not run: the scene in a browser: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	defer func() {
		_ = cmd.Process.Signal(os.Interrupt)
		select {
		case <-ended:
		case <-time.After(time.Minute):
			_ = cmd.Process.Kill()
		}
	}()

	var got proof.Recording
	select {
	case body := <-bodies:
		if err := got.UnmarshalBinary(body); err != nil {
			t.Fatalf("%v: %s", err, failure)
		}
	case err := <-ended:
		ended <- err
		t.Skipf("not run: the scene in a browser: chromium does not start here: %v", err)
	case <-time.After(5 * time.Minute):
		t.Fatal("the page does not answer")
	}
	want, err := proof.Record(proof.Config{Seed: 1}, ticks, 0)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(got.Build, "js/wasm") || !slices.Equal(got.Hashes, want.Hashes) {
		tick, _ := proof.FirstDifference(want, &got)
		t.Errorf("%s: %d hashes, of which one differs from this process: %d", got.Build, len(got.Hashes), tick)
	}
}
