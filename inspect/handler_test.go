package inspect_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/inspect"
)

// The page is one document, whose policy admits its script and requests to where it is.
func TestPage(t *testing.T) {
	h := newHandler(t, inspect.Config{Name: `</title>"&`})
	w := do(h, request{path: "/"})
	if got := w.Header().Get("Content-Type"); w.Code != 200 || got != "text/html; charset=utf-8" {
		t.Fatalf("status %d, type %q", w.Code, got)
	}
	script := regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(w.Body.String(), -1)
	if len(script) != 1 {
		t.Fatalf("%d scripts", len(script))
	}
	sum := sha256.Sum256([]byte(script[0][1]))
	policy := w.Header().Get("Content-Security-Policy")
	for _, want := range []string{
		"default-src 'none'", "script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'", "connect-src 'self'", "img-src data:",
		"base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
	} {
		if !strings.Contains("; "+policy+";", "; "+want+";") {
			t.Errorf("the policy %q lacks %q", policy, want)
		}
	}
	if !strings.Contains(w.Body.String(), "<title>&lt;/title&gt;&#34;&amp;</title>") {
		t.Error("the title is not the name")
	}
	if w := do(h, request{method: "HEAD", path: "/"}); w.Code != 200 {
		t.Errorf("HEAD: status %d", w.Code)
	}
}

func TestConfig(t *testing.T) {
	for name, c := range map[string]inspect.Config{
		"len(Config.Token) = 15": {Token: "fifteen bytes.."},
		"Config.Hosts[1] = ":     {Hosts: []string{"a", ""}},
		"Config.Hosts[0] = a:80": {Hosts: []string{"a:80"}},
		"Config.Hosts[0] = http": {Hosts: []string{"http://a"}},
	} {
		h, err := inspect.NewHandler(newSim(t), c)
		if h != nil || !errors.Is(err, evertick.ErrRange) || !strings.Contains(err.Error(), "inspect: "+name) {
			t.Errorf("%s: %v", name, err)
		}
		if c.Token != "" && strings.Contains(err.Error(), c.Token) {
			t.Errorf("the error has the token: %v", err)
		}
	}
	defer func() {
		if got := recover(); got != "inspect: NewHandler: nil Sim, and no Config.Log" {
			t.Errorf("panic %v", got)
		}
	}()
	inspect.NewHandler(nil, inspect.Config{})
}

// Looking at a Sim in every way does not change its hashes.
func TestLookingChangesNothing(t *testing.T) {
	plain, watched := newSim(t), newSim(t)
	h, err := inspect.NewHandler(watched, inspect.Config{})
	check(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for _, path := range readings {
		all.Go(func() {
			for answered := 0; answered < 3 && ctx.Err() == nil; {
				if do(h, request{path: path}).Code/100 == 2 {
					answered++
				}
			}
		})
	}
	done := make(chan bool)
	go func() { all.Wait(); close(done) }()
	for looking := true; looking; {
		select {
		case <-done:
			looking = false
		case <-time.After(time.Millisecond): // there is time to look
		}
		check(t, plain.Step())
		check(t, watched.Step())
		if plain.Hash() != watched.Hash() {
			t.Fatalf("tick %d has the hash %x, unobserved %x", plain.Ticks(), watched.Hash(), plain.Hash())
		}
		if plain.Ticks() > 20_000 {
			t.Fatal("some requests are never answered")
		}
	}
	cancel()
	check(t, h.Close())
}

// readings are requests that read a Sim.
var readings = []string{
	"/", "/status", "/frame?by=hp&contacts=1&joints=1&velocities=1&boxes=1", "/world", "/columns", "/entities?count=10&where=hp%3E3&columns=hp",
	"/entity?slot=3", "/pick?x=1&y=10&r=5", "/systems", "/steps", "/hashes", "/events", "/queues", "/trace", "/timeline", "/metrics", "/debug/vars",
}

// A Sim that runs, pauses, fails and loses its Handler is read meanwhile. The race detector finds what must not be shared.
func TestReadWhileItChanges(t *testing.T) {
	sim := newSim(t)
	broken := errors.New("broken")
	fail := false
	check(t, sim.Add(evertick.AfterIndex, "fuse", func(*evertick.Tick) error {
		if fail {
			return broken
		}
		return nil
	}))
	h, err := inspect.NewHandler(sim, inspect.Config{Control: true})
	check(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	for _, path := range readings {
		all.Go(func() {
			for ctx.Err() == nil {
				if w := do(h, request{path: path}); w.Code == 500 || w.Code == 0 {
					t.Errorf("%s: status %d: %s", path, w.Code, w.Body)
				}
			}
		})
	}
	frames := func(n int) (err error) {
		for range n {
			if _, err = sim.Advance(20_000_000); err != nil {
				break
			}
		}
		return err
	}
	check(t, frames(40))
	sim.Loop().SetPaused(true)
	check(t, frames(40))
	sim.Loop().SetPaused(false)
	check(t, frames(20))
	fail = true
	if err := frames(2); !errors.Is(err, broken) {
		t.Errorf("the failed frame returned %v", err)
	}
	_ = frames(5)
	check(t, h.Close())
	cancel()
	all.Wait()
	if w := do(h, request{path: "/frame"}); w.Code != 503 {
		t.Errorf("after Close: status %d: %s", w.Code, w.Body)
	}
	check(t, h.Close())
}

// A page may pause only a Sim that lets it.
func TestControl(t *testing.T) {
	post := request{"POST", "/timeline", map[string]string{"Sec-Fetch-Site": "same-origin", "Content-Type": "application/json"}, `{"of":"live","pause":true}`}
	for _, control := range []bool{false, true} {
		sim := newSim(t)
		h, err := inspect.NewHandler(sim, inspect.Config{Control: control})
		check(t, err)
		code := make(chan int)
		go func() { code <- do(h, post).Code }()
		got := 0
		for got == 0 {
			if _, err := sim.Advance(20_000_000); err != nil {
				t.Fatal(err)
			}
			select {
			case got = <-code:
			default:
			}
		}
		want := map[bool]int{false: 403, true: 200}[control]
		if got != want {
			t.Errorf("control %t: status %d, want %d", control, got, want)
		}
		ticks := sim.Ticks()
		for range 3 {
			if _, err := sim.Advance(20_000_000); err != nil {
				t.Fatal(err)
			}
		}
		if stands := sim.Ticks() == ticks; stands != control {
			t.Errorf("control %t: time stands still: %t", control, stands)
		}
		check(t, h.Close())
	}
}
