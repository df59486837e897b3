package httpagent_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/agent/httpagent"
	"github.com/evertick/evertick/internal/fault"
)

// An answer with a Retry-After, in either form, is an error with the time from which on to ask again; so is one that says
// that the endpoint is asked too often.
func TestRetryAfter(t *testing.T) {
	date := time.Date(2020, 2, 3, 4, 5, 6, 0, time.UTC)
	const year = 365 * 24 * time.Hour
	for _, c := range []struct {
		name   string
		status int
		after  string
		date   string // "": that of the server
		want   time.Duration
		none   bool
	}{
		{"seconds", 429, "7", "", 7 * time.Second, false},
		{"spaces", 429, " 7\t", "", 7 * time.Second, false},
		{"none", 429, "0", "", 0, false},
		{"zeros", 503, "007", "", 7 * time.Second, false},
		{"another status", 500, "7", "", 7 * time.Second, false},
		{"a redirect", 302, "7", "", 7 * time.Second, false},
		{"a century", 429, "3155760000", "", year, false},
		{"beyond 64 bits", 429, strings.Repeat("9", 40), "", year, false},
		{"a date", 429, date.Add(time.Minute).Format(http.TimeFormat), date.Format(http.TimeFormat), time.Minute, false},
		{"a date of RFC 850", 429, date.Add(time.Minute).Format("Monday, 02-Jan-06 15:04:05 GMT"), date.Format(http.TimeFormat), time.Minute, false},
		{"a date of C", 429, date.Add(time.Minute).Format(time.ANSIC), date.Format(http.TimeFormat), time.Minute, false},
		{"a date that has passed", 429, date.Add(-time.Minute).Format(http.TimeFormat), date.Format(http.TimeFormat), 0, false},
		{"a date that has passed here", 429, date.Format(http.TimeFormat), "soon", 0, false},
		{"a date far away", 429, "Fri, 31 Dec 9999 23:59:59 GMT", date.Format(http.TimeFormat), year, false},
		{"status 429 alone", 429, "", "", 3 * time.Second, false},
		{"status 503 alone", 503, "", "", 3 * time.Second, false},
		{"a fraction", 429, "1.5", "", 3 * time.Second, false},
		{"a negative number", 429, "-5", "", 3 * time.Second, false},
		{"words", 429, "tomorrow", "", 3 * time.Second, false},
		{"words with another status", 500, "tomorrow", "", 0, true},
		{"another status alone", 500, "", "", 0, true},
		{"success", 200, "7", "", 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := fake(t, func(w http.ResponseWriter, _ *http.Request) {
				if c.after != "" {
					w.Header().Set("Retry-After", c.after)
				}
				if c.date != "" {
					w.Header().Set("Date", c.date)
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, "no "+key)
			}, func(c *httpagent.Config) { c.Backoff = 3 * time.Second })
			began := time.Now()
			_, err := p.Decide(t.Context(), perception())
			ended := time.Now()
			if !errors.Is(err, httpagent.ErrStatus) && c.status != 200 || strings.Contains(err.Error(), key) {
				t.Fatal(err)
			}
			var retry *agent.RetryError
			if errors.As(err, &retry) == c.none {
				t.Fatalf("%v: an error with a time: %t", err, !c.none)
			}
			if !c.none && (retry.NotBefore.Before(began.Add(c.want)) || retry.NotBefore.After(ended.Add(c.want))) {
				t.Errorf("not before %v, want %v from now", retry.NotBefore.Sub(began), c.want)
			}
		})
	}
	if err := (httpagent.Config{URL: "http://a", Model: "a", Backoff: -1}).Validate(); !errors.Is(err, fault.ErrRange) || !strings.Contains(err.Error(), "Config.Backoff") {
		t.Error(err)
	}
}

// An agent that is due in each tick asks an endpoint that sends Retry-After once, and again when the time has come.
func TestAsksAgainAfterTheTime(t *testing.T) {
	var requests atomic.Int32
	p := fake(t, func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		_, _ = io.WriteString(w, calls())
	}, nil)
	sim, err := evertick.New(evertick.Config{Capacity: 4})
	if err != nil {
		t.Fatal(err)
	}
	agents, err := agent.New(sim, agent.Config{Actions: defs(), Providers: []agent.ProviderConfig{{Provider: p}}})
	if err != nil {
		t.Fatal(err)
	}
	id, err := sim.World.Spawn()
	if err != nil {
		t.Fatal(err)
	}
	if err := agents.Add(id, agent.Spec{}); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for end := began.Add(time.Minute); agents.Stats().Accepted == 0 && time.Now().Before(end); time.Sleep(time.Millisecond) {
		if err := sim.Step(); err != nil {
			t.Fatal(err)
		}
		if n := requests.Load(); n > 1 && time.Since(began) < time.Second {
			t.Fatalf("%d requests after %v", n, time.Since(began))
		}
	}
	s := agents.Stats()
	if s.Accepted != 1 || s.Reason(agent.ProviderBusy) == 0 || s.ShedLimit < 60 {
		t.Errorf("%+v", s)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := agents.Close(ctx); err != nil {
		t.Error(err)
	}
}
