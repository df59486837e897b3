// Package browser drives a headless Chromium by the DevTools protocol, for tests of pages: it opens them, moves the
// mouse, presses keys, and collects what they report and request. Tests skip where there is no Chromium.
package browser

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/evertick/evertick/internal/paritytest"
)

// guard is how long an answer may take on the busiest of machines.
const guard = 2 * time.Minute

// browser is a Chromium that is driven over pipes: messages are JSON, each ended by a zero byte.
type browser struct {
	cmd  *exec.Cmd
	from *os.File
	what string

	mu       sync.Mutex
	to       *os.File
	id       int
	answers  map[int]chan message // to calls that wait
	sessions map[string]*session  // by their id, those of workers too
	started  bool                 // it has answered
	gone     chan struct{}        // closed when it has ended
}

type message struct {
	ID        int             `json:"id"`
	Method    string          `json:"method"`
	SessionID string          `json:"sessionId"`
	Params    json.RawMessage `json:"params"`
	Result    json.RawMessage `json:"result"`
	Error     *struct {
		Message string `json:"message"`
	} `json:"error"`
}

type object map[string]any

// flags let pages run at the pace of visible ones though they are not visible, and keep Chromium from asking the network
// on its own.
var flags = []string{
	"--headless", "--no-sandbox", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run",
	"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-dev-shm-usage",
	"--disable-background-timer-throttling", "--disable-backgrounding-occluded-windows", "--disable-renderer-backgrounding", "--hide-scrollbars",
}

// Start starts a browser with an empty page, which the end of the test ends. It skips the test in a short or instrumented
// run and where Chromium is not installed or does not start; what names the page in the reason.
func Start(t *testing.T, what string) *Page {
	t.Helper()
	return start(t, what, "--disable-gpu")
}

// StartGL is like Start, for pages that draw much with WebGL: without a GPU, but not copied by the main thread of the
// page. Other pages are drawn more slowly.
func StartGL(t *testing.T, what string) *Page {
	t.Helper()
	return start(t, what, "--use-gl=angle", "--use-angle=swiftshader")
}

func start(t *testing.T, what string, more ...string) *Page {
	t.Helper()
	if testing.Short() || paritytest.Instrumented {
		t.Skipf("not run: %s in a browser: this is a short or an instrumented run", what)
	}
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skipf("not run: %s in a browser: chromium is not installed", what)
	}
	commands, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, events, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.MkdirTemp("", "browser") // a child that outlives Chromium may still write there
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	b := &browser{from: from, to: to, what: what, answers: map[int]chan message{}, sessions: map[string]*session{}, gone: make(chan struct{})}
	b.cmd = exec.Command(path, slices.Concat(flags, more, []string{"--user-data-dir=" + home, "--remote-debugging-pipe", "about:blank"})...)
	b.cmd.Env = append(os.Environ(), "HOME="+home)
	b.cmd.ExtraFiles = []*os.File{commands, events} // 3 and 4 there
	if err := b.cmd.Start(); err != nil {
		t.Skipf("not run: %s in a browser: %v", what, err)
	}
	commands.Close()
	events.Close()
	go b.read(from)
	t.Cleanup(b.stop)
	return b.first(t)
}

// stop closes the browser, and ends it if it does not close.
func (b *browser) stop() {
	_ = b.send(noAnswer, "", "Browser.close", nil)
	timer := time.AfterFunc(guard, func() { b.cmd.Process.Kill() })
	b.cmd.Wait() // how it ends is of no interest
	timer.Stop()
	b.to.Close()
	b.from.Close()
}

// read passes answers to the calls that wait for them, and events to their pages.
func (b *browser) read(from io.Reader) {
	defer close(b.gone)
	for r := bufio.NewReader(from); ; {
		text, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(bytes.TrimRight(text, "\x00"), &m) != nil {
			continue
		}
		b.mu.Lock()
		answer, s := b.answers[m.ID], b.sessions[m.SessionID]
		delete(b.answers, m.ID)
		b.started = b.started || m.ID != 0
		b.mu.Unlock()
		switch {
		case answer != nil:
			answer <- m
		case m.ID == 0 && s != nil:
			s.event(&m)
		}
	}
}

// number returns the id of a new call, and the channel of its answer.
func (b *browser) number() (int, chan message) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.id++
	answer := make(chan message, 1)
	b.answers[b.id] = answer
	return b.id, answer
}

// send sends a call. An answer with an id that no call waits for is dropped.
func (b *browser) send(id int, session, method string, params any) error {
	text, err := json.Marshal(struct {
		ID        int    `json:"id"`
		Method    string `json:"method"`
		SessionID string `json:"sessionId,omitempty"`
		Params    any    `json:"params,omitempty"`
	}{id, method, session, params})
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	_, err = b.to.Write(append(text, 0))
	return err
}

// call waits for the answer.
func (b *browser) call(t testing.TB, session, method string, params any) json.RawMessage {
	t.Helper()
	id, answer := b.number()
	if err := b.send(id, session, method, params); err != nil {
		t.Logf("%s: %v", method, err)
	}
	select {
	case m := <-answer:
		if m.Error != nil {
			t.Fatalf("%s: %s", method, m.Error.Message)
		}
		return m.Result
	case <-b.gone:
		if !b.started {
			t.Skipf("not run: %s in a browser: chromium does not start here", b.what)
		}
		t.Fatalf("%s: the browser has gone", method)
	case <-time.After(guard):
		t.Fatalf("%s: no answer", method)
	}
	return nil
}

// first attaches to the page with which the browser begins, which comes after the browser.
func (b *browser) first(t testing.TB) *Page {
	t.Helper()
	for start := time.Now(); time.Since(start) < guard; {
		var targets struct {
			TargetInfos []struct{ TargetID, Type string }
		}
		if err := json.Unmarshal(b.call(t, "", "Target.getTargets", nil), &targets); err != nil {
			t.Fatal(err)
		}
		for _, target := range targets.TargetInfos {
			if target.Type == "page" {
				return b.attach(t, target.TargetID)
			}
		}
	}
	t.Fatal("the browser has no page")
	return nil
}

func (b *browser) attach(t testing.TB, target string) *Page {
	t.Helper()
	var attached struct{ SessionID string }
	if err := json.Unmarshal(b.call(t, "", "Target.attachToTarget", object{"targetId": target, "flatten": true}), &attached); err != nil {
		t.Fatal(err)
	}
	s := &session{browser: b, id: attached.SessionID, loaded: make(chan string, 256)}
	b.mu.Lock()
	b.sessions[s.id] = s
	b.mu.Unlock()
	p := &Page{t, s}
	for _, domain := range []string{"Page", "Runtime", "Log", "Network", "Performance"} {
		p.call(domain+".enable", nil)
	}
	p.call("Target.setAutoAttach", watchWorkers)
	return p
}

// watchWorkers lets a worker wait until the browser reports what it does.
var watchWorkers = object{"autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true}
