package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick/examples/demo/valley"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/replica"
	"github.com/evertick/evertick/replica/ws"
)

// start serves a demo, and returns its address and a function that ends it and returns its report.
func start(t *testing.T, s settings) (addr string, end func() string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip("not run: no network: ", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	var report string
	go func() {
		defer close(done)
		report, err = serve(ctx, l, s)
	}()
	end = func() string {
		stop()
		<-done
		if err != nil {
			t.Error(err)
		}
		return report
	}
	t.Cleanup(func() { end() })
	return l.Addr().String(), end
}

func get(t *testing.T, url string) (status int, body []byte) {
	t.Helper()
	r, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err = io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, body
}

// post sends a body as the page of an origin would.
func post(t *testing.T, url, origin, body string) (status int) {
	t.Helper()
	q, err := http.NewRequest("POST", url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Origin", origin)
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	return r.StatusCode
}

// The page is there at once and the world moves. A ball that is thrown is an input of the log, which runs again with the same hashes, and so
// do the hashes of a twin that joins.
func TestDemo(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	addr, end := start(t, settings{seed: 1, log: log})
	if status, body := get(t, "http://"+addr+"/"); status != 200 || !bytes.Contains(body, []byte("throw a ball")) {
		t.Fatalf("status %d, %d bytes", status, len(body))
	}
	if status, body := get(t, "http://"+addr+"/twin"); status != 200 || !bytes.Contains(body, []byte(`"none"`)) {
		t.Errorf("twin: status %d, %s", status, body)
	}
	status := func() (s struct {
		Tick uint64
		Hash string
	}) {
		code, body := get(t, "http://"+addr+"/status")
		if err := json.Unmarshal(body, &s); code != 200 || err != nil {
			t.Fatalf("status %d, %v: %s", code, err, body)
		}
		return s
	}
	until := func(what string, good func() bool) {
		t.Helper()
		for start := time.Now(); !good(); time.Sleep(10 * time.Millisecond) {
			if time.Since(start) > 20*time.Second {
				t.Fatal(what, ": not so within 20 s")
			}
		}
	}
	first := status()
	until("the world moves", func() bool { now := status(); return now.Tick > first.Tick && now.Hash != first.Hash })

	const ray = `{"origin": [10, 30, 60], "direction": [-6, -25, -60]}`
	for _, bad := range []string{"", "{}", `{"origin": [0, 0, 0], "direction": [0, 0, 0]}`, `{"direction": "up"}`, ray[1:]} {
		if code := post(t, "http://"+addr+"/throw", "http://"+addr, bad); code != 400 {
			t.Errorf("%q: status %d", bad, code)
		}
	}
	if code := post(t, "http://"+addr+"/throw", "http://example.com", ray); code != 403 {
		t.Errorf("from another site: status %d", code)
	}
	if code := post(t, "http://"+addr+"/throw", "http://"+addr, ray); code != 204 {
		t.Fatalf("status %d", code)
	}

	own, err := valley.Scenario.New(1)
	if err != nil {
		t.Fatal(err)
	}
	var equal, different int
	reached := make(chan struct{})
	twin, err := replica.NewSimulator(own, replica.SimulatorConfig{Scenario: valley.Scenario.Name, Compared: func(_, own, server uint64) {
		if own != server {
			different++
		} else if equal++; equal == 20 {
			close(reached)
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	conn, err := ws.Dial(t.Context(), "ws://"+addr+"/world", ws.ClientConfig{ClientConfig: replica.ClientConfig{Mode: replica.Simulate, Simulator: twin}})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-reached:
	case <-time.After(20 * time.Second):
		t.Error("no hashes of the twin")
	}
	conn.Close()
	if <-conn.Done(); different > 0 {
		t.Errorf("%d hashes are equal and %d different", equal, different)
	}

	if report := end(); !strings.Contains(report, " 1 balls thrown") {
		t.Error(report)
	} else {
		t.Log(report)
	}
	again, err := replay.Verify(log, valley.Scenario, replay.VerifyOptions{})
	if err != nil || again.Inputs != 1 || again.Ticks < 20 {
		t.Errorf("%+v, %v", again, err)
	}
}

// An address that others can reach, and a log that is there already, are refused.
func TestRefused(t *testing.T) {
	if err := run(t.Context(), settings{addr: "0.0.0.0:0"}); err == nil || !strings.Contains(err.Error(), "0.0.0.0:0") {
		t.Error(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "note"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	if err := run(ctx, settings{addr: "127.0.0.1:0", log: filepath.Join(dir, "note")}); err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}
