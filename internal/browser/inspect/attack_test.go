package inspect_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/evertick/evertick/inspect"
	"github.com/evertick/evertick/internal/browser"
)

// witness notes how a Handler has answered requests of other sites.
type witness struct {
	handler http.Handler

	mu      sync.Mutex
	foreign map[string]int // status by path and how it was asked for
}

func (s *witness) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	recorder := httptest.NewRecorder()
	s.handler.ServeHTTP(recorder, r)
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" || !strings.HasPrefix(r.Host, "127.0.0.1:") {
		s.mu.Lock()
		s.foreign[r.Method+" "+r.URL.Path+" "+r.Header.Get("Sec-Fetch-Dest")] = recorder.Code
		s.mu.Unlock()
	}
	for name, values := range recorder.Header() {
		w.Header()[name] = values
	}
	w.WriteHeader(recorder.Code)
	w.Write(recorder.Body.Bytes())
}

// In a browser the page works by a link with the token, which another site may have, and leaves no token where scripts or other
// pages can see it. What else that site, or a name that resolves to this machine, asks for is refused.
func TestAttacksFromPages(t *testing.T) {
	p := browser.Start(t, "the security of inspect")
	const secret = "sixteen bytes or more"
	sim, err := lotSim(1)
	check(t, err)
	h, err := inspect.NewHandler(sim, inspect.Config{Token: secret, Control: true})
	check(t, err)
	defer h.Close()
	watched := &witness{handler: http.StripPrefix("/sim", h), foreign: map[string]int{}}
	mux := http.NewServeMux()
	mux.Handle("/sim/", watched)
	web := httptest.NewServer(mux)
	defer web.Close()
	defer runUntil(sim)()
	link := web.URL + "/sim/?token=" + url.QueryEscape(secret)

	// localhost is another site than 127.0.0.1.
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte(`<!doctype html><title>other</title><link rel="icon" href="data:,"><a id="link" href="` + link + `">look</a>`))
	}))
	defer other.Close()
	attacker := strings.Replace(other.URL, "127.0.0.1", "localhost", 1) + "/"

	p.Open(attacker)
	p.Follow(`document.getElementById("link").click()`, web.URL+"/sim/")
	p.Wait(`location.search == "" && document.querySelector("#state").textContent == "running"`)
	if got := p.Text("document.cookie"); got != "" {
		t.Errorf("scripts see the cookie %q", got)
	}
	p.Forget()
	p.Open(web.URL + "/sim/")
	p.Wait(`document.querySelector("#state").textContent == "running"`)
	p.Quiet(func(asked string) bool {
		return strings.HasPrefix(asked, web.URL+"/sim/") && !strings.Contains(asked, "token")
	})

	// The browser now has the cookie.
	for _, from := range []string{attacker, other.URL + "/"} { // another site; another port of the same one
		p.Open(from)
		var seen []string
		p.Eval(`(async () => {
			const at = "`+web.URL+`/sim/", seen = [];
			const asked = {
				"GET cors": () => fetch(at + "status", {credentials: "include"}),
				"GET no-cors": () => fetch(at + "status", {mode: "no-cors", credentials: "include"}),
				"POST": () => fetch(at + "timeline", {method: "POST", credentials: "include", headers: {"Content-Type": "application/json"}, body: '{"of":"live","pause":true}'}),
				"POST no-cors": async () => {
					const r = await fetch(at + "timeline", {method: "POST", mode: "no-cors", credentials: "include", body: '{"of":"live","pause":true}'});
					if (r.type == "opaque") throw 0; // the attacker cannot see how it was refused
				},
				"image": () => new Promise((ok, no) => { const e = new Image(); e.onload = ok; e.onerror = no; e.src = at + "metrics"; }),
				"script": () => new Promise((ok, no) => { const e = document.createElement("script"); e.onload = ok; e.onerror = no; e.src = at + "debug/vars"; document.body.append(e); }),
			};
			for (const [name, ask] of Object.entries(asked)) {
				try { await ask(); seen.push(name); } catch {}
			}
			const frame = document.createElement("iframe");
			frame.src = at;
			document.body.append(frame);
			await new Promise(done => { frame.onload = done; });
			return seen;
		})()`, &seen)
		if len(seen) > 0 {
			t.Errorf("a page of %s gets %q", from, seen)
		}
	}

	// evil.localhost resolves to this machine, as any name can be made to do.
	rebound := strings.Replace(web.URL, "127.0.0.1", "evil.localhost", 1) + "/sim/status"
	p.Open(rebound)
	if got := p.Text("document.body.innerText"); !strings.Contains(got, "the host is not allowed") {
		t.Errorf("by another name: %q", got)
	}

	watched.mu.Lock()
	defer watched.mu.Unlock()
	for asked, status := range watched.foreign {
		want := http.StatusForbidden
		if asked == "GET /sim/ document" { // the link
			want = http.StatusOK
		}
		if status != want {
			t.Errorf("%s: status %d, want %d", asked, status, want)
		}
	}
	if len(watched.foreign) < 6 {
		t.Errorf("only %v were asked for", watched.foreign)
	}
}
