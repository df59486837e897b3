package browser

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

const sample = `<!doctype html><meta http-equiv="Content-Security-Policy" content="img-src 'none'"><title>sample</title>
<body style="background: #fff"><main><h1>Sample</h1><p>words</p><input id="text"><input id="file" type="file"><button id="button">Press</button>
<div id="scroller" style="overflow: auto; width: 90px; height: 20px"><pre>a line that is wider than its scroller
and
more
lines</pre></div><p id="after">after it</p></main>
<script>
const log = [];
for (const kind of ["click", "wheel", "keydown", "pointermove"]) {
  addEventListener(kind, e => log.push(kind + " " + (e.key ?? e.target.id ?? "") + (e.buttons ? " down" : "")), {passive: true});
}
addEventListener("dragover", e => e.preventDefault());
addEventListener("drop", async e => {
  e.preventDefault();
  const kinds = [...e.dataTransfer.items].map(i => i.webkitGetAsEntry()).map(i => i.isDirectory ? "folder " : "file ");
  for (const f of e.dataTransfer.files) log.push("drop " + kinds.shift() + f.name);
});
document.getElementById("file").addEventListener("change", async e => log.push("chosen " + await e.target.files[0].text()));
</script>`

// The harness does what a reader does, and sees what a page does.
func TestPage(t *testing.T) {
	p := Start(t, "the harness")
	folder := t.TempDir()
	path := filepath.Join(folder, "a.txt")
	if err := os.WriteFile(path, []byte("content"), 0o644); err != nil {
		t.Fatal(err)
	}
	p.Resize(700, 500)
	p.Open(p.File("sample.html", []byte(sample)))
	logged := func(want string) {
		t.Helper()
		p.Wait(`log.length`)
		if got := p.Text(`log.splice(0).join("; ")`); !strings.Contains(got, want) {
			t.Errorf("the page saw %q, not %q", got, want)
		}
	}
	p.Click("#button")
	logged("click button")
	p.Drag("h1", 0.1, 0.9)
	logged("pointermove  down")
	p.Wheel(10, 10, 0, 5)
	logged("wheel")
	p.Choose("#file", path)
	logged("chosen content")
	p.Drop("h1", path)
	logged("drop file a.txt")
	p.Drop("h1", folder)
	logged("drop folder ")
	p.Do(`document.getElementById("text").focus()`)
	p.Key("a", 0)
	p.Key("Tab", Shift)
	p.Key("Tab", 0)
	p.Type("bc")
	if got := p.Text(`document.getElementById("text").value`); got != "bc" { // Tab selects what was there
		t.Errorf("the input holds %q", got)
	}
	logged("keydown a; keydown Tab; keydown Tab")
	if p.Text(`String([innerWidth, innerHeight])`) != "700,500" || p.Metrics()["TaskDuration"] <= 0 || p.Image("h1").Bounds().Dy() < 10 {
		t.Error("size, metrics or picture are wrong")
	}
	p.Quiet(nil)

	other := p.Another()
	other.Do(`console.log("from another tab")`)
	if len(p.Problems()) > 0 || len(other.Problems()) != 1 {
		t.Errorf("problems %q and, of the other tab, %q", p.Problems(), other.Problems())
	}
}

// Errors, refused requests and the requests of workers are seen.
func TestProblems(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(sample))
	}))
	defer server.Close()
	p := Start(t, "the harness")
	p.Open(server.URL)
	seen := func(kind string, list func() []string, statements, want string) {
		t.Helper()
		p.Forget()
		p.Do(statements)
		for start := time.Now(); !slices.ContainsFunc(list(), func(s string) bool { return strings.Contains(s, want) }); time.Sleep(10 * time.Millisecond) {
			if time.Since(start) > guard {
				t.Fatalf("%s: %s is not in %q", kind, want, list())
			}
		}
	}
	seen("exception", p.Problems, `setTimeout(() => { throw new Error("planted"); })`, "planted")
	seen("console", p.Problems, `console.warn("planted")`, "planted")
	seen("policy", p.Problems, `new Image().src = "http://127.0.0.1:1/x.png"`, "Content Security Policy")
	seen("request", p.Requests, `await fetch("/x").catch(() => {})`, "/x")
	seen("WebSocket", p.Requests, `new WebSocket("ws://127.0.0.1:1/y")`, "ws://127.0.0.1:1/y")
	worker := func(script string) string { return `new Worker(URL.createObjectURL(new Blob(["` + script + `"])))` }
	seen("worker", p.Problems, worker(`throw new Error('planted')`), "planted")
	seen("request of a worker", p.Requests, worker(`fetch('`+server.URL+`/z').catch(() => {})`), server.URL+"/z")
	// Chromium's network service learns of it after the page does.
	fetched := func(want string) {
		t.Helper()
		for start := time.Now(); p.Text(`fetch("/x").then(() => "an answer", () => "none")`) != want; time.Sleep(10 * time.Millisecond) {
			if time.Since(start) > guard {
				t.Fatalf("a request never had %s", want)
			}
		}
	}
	p.Offline(true)
	fetched("none")
	p.Offline(false)
	fetched("an answer")
}

// The checks detect planted faults, and take no text for one that its scroller hides.
func TestLegible(t *testing.T) {
	p := Start(t, "the harness")
	check := func() string { return p.Illegible(5) + p.Collisions("main", "#mark", "main, p") }
	for _, c := range []struct{ spoil, want string }{
		{``, ""},
		{`document.querySelector("p").style.color = "#999"`, "contrast"},
		{`document.querySelector("p").style.color = "color(srgb 0.6 0.6 0.6)"`, "contrast"},
		{`document.querySelector("p").style.fontSize = "9px"`, "size 9px"},
		{`document.querySelector("p").style.marginLeft = "370px"`, "beyond the edge"},
		{`document.querySelector("h1").style.marginBottom = "-30px"`, "on each other"},
		{`document.querySelector("#scroller").style.overflow = "visible"`, "on each other"},
		{`document.querySelector("#scroller").style.overflow = "hidden"`, "cut off"},
		{`document.querySelectorAll("main p").forEach(e => e.remove())`, "only"},
	} {
		p.Resize(390, 600)
		p.Open(p.File("sample.html", []byte(sample)))
		p.Do(c.spoil)
		if problems := check(); c.want == "" && problems != "" || !strings.Contains(problems, c.want) {
			t.Errorf("%q: found %q, not %q", c.spoil, problems, c.want)
		}
	}
}

// A page that goes to another site by way of a third page is followed there.
func TestFollow(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/by" {
			w.Header().Set("Refresh", "0; url=./to")
		}
		_, _ = w.Write([]byte(sample))
	}))
	defer server.Close()
	p := Start(t, "the harness")
	for range 5 {
		p.Open(strings.Replace(server.URL, "127.0.0.1", "localhost", 1) + "/")
		p.Follow(`location = "`+server.URL+`/by"`, server.URL+"/to")
		if got := p.Text(`location.href`); got != server.URL+"/to" {
			t.Errorf("followed to %s", got)
		}
	}
}
