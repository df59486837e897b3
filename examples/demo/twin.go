package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
)

// twin is the world for browsers, which is built while the page is already there.
type twin struct {
	built sync.WaitGroup

	mu    sync.Mutex // guards what follows
	state string     // "building", "ready", "failed" or "none"
	why   string     // it failed
	page  []byte
}

// newTwin begins to build a package. It ends early when ctx is done.
func newTwin(ctx context.Context, pkg string) *twin {
	t := &twin{state: "none"}
	if pkg == "" {
		return t
	}
	t.state = "building"
	t.built.Go(func() {
		page, err := build(ctx, pkg)
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.state, t.page = "ready", page; err != nil {
			t.state, t.why = "failed", err.Error()
		}
	})
	return t
}

func (t *twin) wait() { t.built.Wait() }

// build returns the page of a package, which inspect/twin/build makes. It leaves cores to the world.
func build(ctx context.Context, pkg string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "twin")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "index.html")
	cmd := exec.CommandContext(ctx, "go", "run", "github.com/evertick/evertick/inspect/twin/build", "-title", "valley", "-o", file, pkg)
	cmd.Env = append(os.Environ(), "GOFLAGS="+os.Getenv("GOFLAGS")+" -p=1", "GOMAXPROCS=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	return os.ReadFile(file)
}

// ServeHTTP answers with the page, or, until there is one, with the reason as JSON.
func (t *twin) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	t.mu.Lock()
	state, why, page := t.state, t.why, t.page
	t.mu.Unlock()
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if state == "ready" {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(page)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]string{"state": state, "error": why})
}
