package inspect_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evertick/evertick/inspect"
)

// Requests that attackers can make others send, or send themselves, and some that must be allowed.
func TestGuard(t *testing.T) {
	const (
		open    = iota // without a token
		locked         // with one
		reached        // with one, and further hosts
	)
	handlers := []http.Handler{
		newHandler(t, inspect.Config{}), newHandler(t, inspect.Config{Token: secret}),
		newHandler(t, inspect.Config{Token: secret, Hosts: []string{"Play.example.com", "2001:db8::7"}}),
	}
	type header = map[string]string
	bearer := "Bearer " + secret
	for _, c := range []struct {
		name    string
		handler int
		request request
		want    int
	}{
		// DNS rebinding: the script of another site names that site as the host.
		{"own address", open, request{path: "/status"}, 200},
		{"localhost", open, request{path: "/status", header: header{"Host": "LocalHost:8080"}}, 200},
		{"IPv6", open, request{path: "/status", header: header{"Host": "[::1]:8080"}}, 200},
		{"IPv4 in IPv6", open, request{path: "/status", header: header{"Host": "[::ffff:127.0.0.1]"}}, 200},
		{"rebound name", open, request{path: "/status", header: header{"Host": "evil.example:8080"}}, 403},
		{"rebound name, the page", open, request{path: "/", header: header{"Host": "evil.example:8080"}}, 403},
		{"a name that begins alike", open, request{path: "/status", header: header{"Host": "localhost.evil.example"}}, 403},
		{"an address that begins alike", open, request{path: "/status", header: header{"Host": "127.0.0.1.evil.example"}}, 403},
		{"user in the host", open, request{path: "/status", header: header{"Host": "localhost@evil.example"}}, 403},
		{"the address of all", open, request{path: "/status", header: header{"Host": "0.0.0.0:8080"}}, 403},
		{"no host", open, request{path: "/status", header: header{"Host": ""}}, 403},
		{"other address", open, request{path: "/status", header: header{"Host": "192.0.2.7:8080"}}, 403},
		{"metrics of a rebound name", open, request{path: "/metrics", header: header{"Host": "evil.example"}}, 403},
		{"a host with the token", locked, request{path: "/status", header: header{"Host": "evil.example", "Authorization": bearer}}, 403},
		{"a listed host", reached, request{path: "/status", header: header{"Host": "play.EXAMPLE.com", "Authorization": bearer}}, 200},
		{"a listed address", reached, request{path: "/status", header: header{"Host": "[2001:db8::7]:80", "Authorization": bearer}}, 200},
		{"below a listed host", reached, request{path: "/status", header: header{"Host": "x.play.example.com", "Authorization": bearer}}, 403},
		{"the address that accepted", locked, request{path: "/status", header: header{"Host": "192.0.2.7:80", "Local": "192.0.2.7:80", "Authorization": bearer}}, 200},

		// Other machines, without a token.
		{"other machine", open, request{path: "/status", header: header{"From": "192.0.2.9:1"}}, 403},
		{"other machine, by the accepting address", open, request{path: "/status", header: header{"Local": "192.0.2.7:80"}}, 403},
		{"other machine with the token", locked, request{path: "/status", header: header{"From": "192.0.2.9:1", "Authorization": bearer}}, 200},

		// Cross-site requests.
		{"from the page", open, request{path: "/status", header: header{"Sec-Fetch-Site": "same-origin"}}, 200},
		{"typed address", open, request{path: "/", header: header{"Sec-Fetch-Site": "none"}}, 200},
		{"link on another site", open, request{path: "/", header: header{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}}, 200},
		{"frame of another site", open, request{path: "/", header: header{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}}, 403},
		{"page fetched by another site", open, request{path: "/", header: header{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "script"}}, 403},
		{"link on another site to data", open, request{path: "/status", header: header{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}}, 403},
		{"data fetched by another site", open, request{path: "/frame", header: header{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "cors"}}, 403},
		{"data fetched by another port", locked, request{path: "/status", header: header{"Sec-Fetch-Site": "same-site", "Authorization": bearer}}, 403},
		{"image of metrics", open, request{path: "/metrics", header: header{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}}, 403},
		{"foreign origin", open, request{path: "/status", header: header{"Origin": "https://evil.example"}}, 403},
		{"origin of a file", open, request{path: "/status", header: header{"Origin": "null"}}, 403},
		{"origin of another port", open, request{path: "/status", header: header{"Origin": "http://127.0.0.1:9"}}, 403},
		{"own origin", open, request{path: "/status", header: header{"Origin": "http://127.0.0.1:8080"}}, 200},

		// Posts.
		{"own post", open, request{"POST", "/timeline", header{"Origin": "http://127.0.0.1:8080", "Content-Type": "application/json"}, "{}"}, 0},
		{"post by fetch metadata", open, request{"POST", "/timeline", header{"Sec-Fetch-Site": "same-origin", "Content-Type": "application/json; charset=utf-8"}, "{}"}, 0},
		{"post with a bearer token", locked, request{"POST", "/timeline", header{"Authorization": bearer, "Content-Type": "application/json"}, "{}"}, 0},
		{"post of nobody", open, request{"POST", "/timeline", header{"Content-Type": "application/json"}, "{}"}, 403},
		{"post of a foreign origin", open, request{"POST", "/timeline", header{"Origin": "https://evil.example", "Content-Type": "application/json"}, "{}"}, 403},
		{"post of a foreign origin with the token", locked, request{"POST", "/timeline", header{"Origin": "https://evil.example", "Authorization": bearer, "Content-Type": "application/json"}, "{}"}, 403},
		{"post across sites", open, request{"POST", "/timeline", header{"Sec-Fetch-Site": "cross-site", "Content-Type": "application/json"}, "{}"}, 403},
		{"form as text", open, request{"POST", "/timeline", header{"Origin": "http://127.0.0.1:8080", "Content-Type": "text/plain"}, "{}"}, 415},
		{"form", open, request{"POST", "/timeline", header{"Origin": "http://127.0.0.1:8080", "Content-Type": "application/x-www-form-urlencoded"}, "{}"}, 415},
		{"no type", open, request{"POST", "/timeline", header{"Origin": "http://127.0.0.1:8080"}, "{}"}, 415},
		{"post without the token", locked, request{"POST", "/timeline", header{"Origin": "http://127.0.0.1:8080", "Content-Type": "application/json"}, "{}"}, 401},
		{"huge post", open, request{"POST", "/timeline", header{"Origin": "http://127.0.0.1:8080", "Content-Type": "application/json"}, strings.Repeat(" ", 64<<10+1)}, 413},

		// Tokens.
		{"no token", locked, request{path: "/status"}, 401},
		{"no token for the page", locked, request{path: "/"}, 401},
		{"no token for metrics", locked, request{path: "/metrics"}, 401},
		{"no token for variables", locked, request{path: "/debug/vars"}, 401},
		{"no token for what is not there", locked, request{path: "/nothing"}, 401},
		{"wrong token", locked, request{path: "/status", header: header{"Authorization": bearer + "x"}}, 401},
		{"token without its end", locked, request{path: "/status", header: header{"Authorization": bearer[:len(bearer)-1]}}, 401},
		{"empty token", locked, request{path: "/status", header: header{"Authorization": "Bearer "}}, 401},
		{"other scheme", locked, request{path: "/status", header: header{"Authorization": "Basic " + secret}}, 401},
		{"token as a cookie", locked, request{path: "/status", header: header{"Cookie": "evertick-inspect-8080=" + secret}}, 401},
		{"token in the query of data", locked, request{path: "/status?token=" + strings.ReplaceAll(secret, " ", "+")}, 401},
		{"wrong token in the query", locked, request{path: "/?token=wrong"}, 401},
		{"bearer", locked, request{path: "/status", header: header{"Authorization": "bearer " + secret}}, 200},

		// Methods, paths, queries.
		{"head", open, request{method: "HEAD", path: "/status"}, 200},
		{"delete", open, request{method: "DELETE", path: "/status"}, 405},
		{"options, as before a cross-site request", open, request{method: "OPTIONS", path: "/timeline"}, 405},
		{"two slashes", open, request{path: "//status"}, 404},
		{"two slashes to a host", open, request{path: "//evil.example/"}, 404},
		{"parents", open, request{path: "/../../etc/passwd"}, 404},
		{"encoded parents", open, request{path: "/%2e%2e/status"}, 404},
		{"encoded slash", open, request{path: "/debug%2f..%2fstatus"}, 404},
		{"backslash", open, request{path: `/\evil.example`}, 404},
		{"long query", open, request{path: "/status?" + strings.Repeat("a", 16<<10+1)}, 414},
		{"long query of a post", open, request{"POST", "/timeline?" + strings.Repeat("a", 16<<10+1), header{"Origin": "http://127.0.0.1:8080", "Content-Type": "application/json"}, "{}"}, 414},
		{"bad query", open, request{path: "/status?a=%zz"}, 400},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := do(handlers[c.handler], c.request)
			if c.want == 0 { // past the guard: the answer is that of the Inspector
				if w.Code == 401 || w.Code == 413 || w.Code == 415 || strings.Contains(w.Body.String(), "inspect: ") {
					t.Errorf("status %d: %s", w.Code, w.Body)
				}
			} else if w.Code != c.want {
				t.Errorf("status %d, want %d: %s", w.Code, c.want, w.Body)
			}
			for name, want := range map[string]string{
				"Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin",
				"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
			} {
				if got := w.Header().Get(name); got != want {
					t.Errorf("%s: %q, want %q", name, got, want)
				}
			}
			if got := w.Header().Get("Content-Security-Policy"); !strings.Contains(got, "default-src 'none'") || !strings.Contains(got, "frame-ancestors 'none'") {
				t.Errorf("policy %q", got)
			}
			if got := w.Header().Get("Access-Control-Allow-Origin"); got != "" {
				t.Errorf("a site %q may read the answer", got)
			}
			if strings.Contains(w.Body.String(), secret) {
				t.Errorf("the answer has the token: %s", w.Body)
			}
		})
	}
}

// A browser gets the token as a cookie from the address of the page, and is sent to the address without it.
func TestCookie(t *testing.T) {
	h := newHandler(t, inspect.Config{Token: secret})
	mux := http.NewServeMux()
	mux.Handle("/some/sim/", http.StripPrefix("/some/sim", h))
	query := "?token=" + strings.ReplaceAll(secret, " ", "%20") + "&panel=columns"
	w := do(mux, request{path: "/some/sim/" + query})
	if got := w.Header().Get("Location"); w.Code != http.StatusSeeOther || got != "./?panel=columns" {
		t.Fatalf("status %d, to %q", w.Code, got)
	}
	cookies := w.Result().Cookies()
	if len(cookies) != 1 {
		t.Fatalf("cookies %v", cookies)
	}
	c := cookies[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || c.Path != "/some/sim/" || c.Domain != "" || c.Secure {
		t.Errorf("cookie %v", c)
	}
	if strings.Contains(c.Value, secret) {
		t.Error("the cookie has the token")
	}
	if text := fmt.Sprintf("%+v %#v", h, h); strings.Contains(text, c.Value) || strings.Contains(text, secret) {
		t.Error("a printed Handler has the token or the cookie")
	}
	pair := map[string]string{"Cookie": c.Name + "=" + c.Value}
	for _, path := range []string{"/some/sim/", "/some/sim/status", "/some/sim/metrics", "/some/sim/debug/vars"} {
		if w := do(mux, request{path: path, header: pair}); w.Code != 200 {
			t.Errorf("%s with the cookie: status %d", path, w.Code)
		}
	}
	if w := do(mux, request{path: "/some/sim/" + query, header: pair}); w.Code != http.StatusSeeOther {
		t.Errorf("the token stays in the address of a browser that has the cookie: status %d", w.Code)
	}
	// Another server of the machine can set a cookie of this name for a longer path, which browsers send first.
	if w := do(mux, request{path: "/some/sim/status", header: map[string]string{"Cookie": c.Name + "=tossed; " + c.Name + "=" + c.Value}}); w.Code != 200 {
		t.Errorf("after a cookie of another server: status %d", w.Code)
	}
	pair["Cookie"] = c.Name + "=" + c.Value[:len(c.Value)-1] + "x"
	if w := do(mux, request{path: "/some/sim/status", header: pair}); w.Code != 401 {
		t.Errorf("an altered cookie: status %d", w.Code)
	}

	// After a link on another site a redirect would not have the cookie; a refresh is a navigation of our own page.
	w = do(mux, request{path: "/some/sim/" + query, header: map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}})
	if got := w.Header().Get("Refresh"); w.Code != 200 || got != "0; url=./?panel=columns" || len(w.Result().Cookies()) != 1 {
		t.Errorf("from another site: status %d, refresh %q", w.Code, got)
	}
}

// A cookie admits to the server that has made it, by the host and port that the browser has named, for a day. Others see it,
// since browsers send cookies to all ports of a host; they can send it under any name, to any port.
func TestCookieIsOfOneServerForADay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		servers := []map[string]string{
			{"Host": "127.0.0.1:8080", "Local": "127.0.0.1:8080"}, {"Host": "127.0.0.1:9090", "Local": "127.0.0.1:9090"},
			{"Host": "localhost:8080", "Local": "127.0.0.1:8080"},
			{"Host": "127.0.0.1:8080", "Local": "127.0.0.1:9090"}, // a client names the port of another server
			{"Host": "127.0.0.1", "Local": "127.0.0.1:80"},
		}
		h := newHandler(t, inspect.Config{Token: secret}) // one token for all
		var cookies []*http.Cookie
		for _, s := range servers {
			w := do(h, request{path: "/?token=" + url.QueryEscape(secret), header: s})
			if got := w.Result().Cookies(); w.Code != http.StatusSeeOther || len(got) != 1 || got[0].MaxAge != 24*60*60 {
				t.Fatalf("%v: status %d, cookies %v", s, w.Code, got)
			}
			cookies = append(cookies, w.Result().Cookies()[0])
		}
		statusOf := func(server int, value string) int {
			header := maps.Clone(servers[server])
			header["Cookie"] = cookies[server].Name + "=" + value
			return do(h, request{path: "/status", header: header}).Code
		}
		check := func(when string, own int) {
			t.Helper()
			for i := range servers {
				for j, c := range cookies {
					want := 401
					if i == j {
						want = own
					}
					if got := statusOf(i, c.Value); got != want {
						t.Errorf("%s: the cookie of %v at %v: status %d, want %d", when, servers[j], servers[i], got, want)
					}
				}
			}
		}
		check("at first", 200)
		time.Sleep(24*time.Hour - time.Second)
		check("after less than a day", 200)
		time.Sleep(time.Second)
		check("after a day", 401)
		until, code, _ := strings.Cut(cookies[0].Value, ".")
		for _, forged := range []string{"9" + until + "." + code, "0." + code, until + ".", "." + code, code, "", until} {
			if got := statusOf(0, forged); got != 401 {
				t.Errorf("the cookie %q: status %d", forged, got)
			}
		}
		other := newHandler(t, inspect.Config{Token: secret + "!"})
		w := do(other, request{path: "/?token=" + url.QueryEscape(secret+"!"), header: servers[0]})
		if got := statusOf(0, w.Result().Cookies()[0].Value); got != 401 {
			t.Errorf("the cookie of another token: status %d", got)
		}
	})
}

// A page is found under any prefix, and its address gets the slash without which its paths lead elsewhere.
func TestMount(t *testing.T) {
	h := newHandler(t, inspect.Config{})
	mux := http.NewServeMux()
	mux.Handle("/a/", http.StripPrefix("/a", h))
	mux.Handle("/b", http.StripPrefix("/b", h)) // without a slash, unlike the others
	mux.Handle("/c/d/", http.StripPrefix("/c/d/", h))
	for path, want := range map[string]int{
		"/a/": 200, "/a/status": 200, "/c/d/": 200, "/c/d/status": 200, "/a/metrics": 200, "/a/debug/vars": 200,
		"/a/x/status": 404, "/a/a/": 404, "/x": 404,
	} {
		if w := do(mux, request{path: path}); w.Code != want {
			t.Errorf("%s: status %d, want %d", path, w.Code, want)
		}
	}
	for _, path := range []string{"/a?x=1", "/b?x=1"} {
		w := do(mux, request{path: path})
		r := httptest.NewRequest("GET", "http://127.0.0.1"+path, nil)
		to, err := r.URL.Parse(w.Header().Get("Location"))
		if err != nil || w.Code/100 != 3 || to.String() != "http://127.0.0.1"+strings.Replace(path, "?", "/?", 1) {
			t.Errorf("%s: status %d, to %v, %v", path, w.Code, to, err)
		}
	}
	// A redirect never leaves the host.
	for _, path := range []string{"//evil.example", "/javascript:alert(1)", `/\evil.example`, "/..//evil.example"} {
		w := do(http.StripPrefix(path, h), request{path: path})
		base := httptest.NewRequest("GET", path, nil).URL
		base.Scheme, base.Host = "http", "127.0.0.1"
		to, err := base.Parse(w.Header().Get("Location"))
		if err != nil || w.Code != http.StatusMovedPermanently || to.Scheme != "http" || to.Host != "127.0.0.1" {
			t.Errorf("%s: status %d, to %v, %v", path, w.Code, to, err)
		}
	}
}
