package profile

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/evertick/evertick/native/paritytest"
)

// browser is a headless Chromium with one page, driven by the DevTools protocol over pipes:
// messages are JSON, each ended by a zero byte.
type browser struct {
	t       *testing.T
	cmd     *exec.Cmd
	to      *os.File
	session string
	id      int

	mu       sync.Mutex
	problems []string // that the page reported
	requests []string // that it made
	answers  chan message
	url      string      // of the page
	loaded   chan string // the same, when it has loaded
	started  bool        // it has answered
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

// guard is how long an answer may take on the busiest of machines.
const guard = 2 * time.Minute

// startBrowser skips the test where there is no Chromium.
func startBrowser(t *testing.T) *browser {
	t.Helper()
	if testing.Short() || paritytest.Instrumented {
		t.Skip("not run: the report in a browser: this is a short or an instrumented run")
	}
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("not run: the report in a browser: chromium is not installed")
	}
	b := &browser{t: t, answers: make(chan message, 16), loaded: make(chan string, 256)}
	commands, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, events, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	home, err := os.MkdirTemp("", "profile") // a child that outlives Chromium may still write there
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	b.cmd = exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions", "--disable-dev-shm-usage",
		"--hide-scrollbars", "--user-data-dir="+home, "--remote-debugging-pipe", "about:blank")
	b.cmd.Env = append(os.Environ(), "HOME="+home)
	b.cmd.ExtraFiles = []*os.File{commands, events} // 3 and 4 there
	b.to = to
	if err := b.cmd.Start(); err != nil {
		t.Skipf("not run: the report in a browser: %v", err)
	}
	commands.Close()
	events.Close()
	go b.read(from)
	t.Cleanup(func() { b.stop(from) })
	b.attach()
	return b
}

// stop closes the browser, and ends it if it does not close.
func (b *browser) stop(from *os.File) {
	b.send("Browser.close", nil)
	timer := time.AfterFunc(guard, func() { b.cmd.Process.Kill() })
	b.cmd.Wait() // how it ends is of no interest
	timer.Stop()
	b.to.Close()
	from.Close()
}

// read sorts what comes: answers to a channel, of events what the test asks for.
func (b *browser) read(from io.Reader) {
	defer close(b.answers)
	for r := bufio.NewReader(from); ; {
		text, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		if json.Unmarshal(bytes.TrimRight(text, "\x00"), &m) != nil {
			continue
		}
		if m.ID != 0 {
			b.answers <- m
			continue
		}
		b.mu.Lock()
		switch m.Method {
		case "Page.frameNavigated":
			var p struct {
				Frame struct{ URL string }
			}
			if json.Unmarshal(m.Params, &p) == nil {
				b.url = p.Frame.URL
			}
		case "Page.loadEventFired":
			b.loaded <- b.url
		case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled", "Inspector.targetCrashed":
			b.problems = append(b.problems, m.Method+": "+string(m.Params))
		case "Network.requestWillBeSent":
			var p struct {
				Request struct{ URL string }
			}
			if json.Unmarshal(m.Params, &p) == nil {
				b.requests = append(b.requests, p.Request.URL)
			}
		}
		b.mu.Unlock()
	}
}

func (b *browser) send(method string, params any) int {
	b.id++
	text, err := json.Marshal(struct {
		ID        int    `json:"id"`
		Method    string `json:"method"`
		SessionID string `json:"sessionId,omitempty"`
		Params    any    `json:"params,omitempty"`
	}{b.id, method, b.session, params})
	if err == nil {
		_, err = b.to.Write(append(text, 0))
	}
	if err != nil {
		b.t.Logf("%s: %v", method, err)
	}
	return b.id
}

// call waits for the answer.
func (b *browser) call(method string, params any) json.RawMessage {
	b.t.Helper()
	id := b.send(method, params)
	timeout := time.After(guard)
	for {
		select {
		case m, ok := <-b.answers:
			switch {
			case !ok && !b.started:
				b.t.Skip("not run: the report in a browser: chromium does not start here")
			case !ok:
				b.t.Fatalf("%s: the browser has gone", method)
			case m.ID != id:
			case m.Error != nil:
				b.t.Fatalf("%s: %s", method, m.Error.Message)
			default:
				b.started = true
				return m.Result
			}
		case <-timeout:
			b.t.Fatalf("%s: no answer", method)
		}
	}
}

type object map[string]any

func (b *browser) attach() {
	b.t.Helper()
	var targets struct {
		TargetInfos []struct{ TargetID, Type string }
	}
	var attached struct{ SessionID string }
	var err error
	for start := time.Now(); err == nil && attached.SessionID == "" && time.Since(start) < guard; { // the page comes after the browser
		err = json.Unmarshal(b.call("Target.getTargets", nil), &targets)
		for _, target := range targets.TargetInfos {
			if target.Type == "page" && attached.SessionID == "" {
				err = errors.Join(err, json.Unmarshal(b.call("Target.attachToTarget", object{"targetId": target.TargetID, "flatten": true}), &attached))
			}
		}
	}
	if err != nil || attached.SessionID == "" {
		b.t.Fatalf("no page: %v", err)
	}
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil)
	}
}

// open writes the report to a file and loads it.
func (b *browser) open(rep *Report, width int) {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "report.html")
	var page bytes.Buffer
	if err := rep.WriteHTML(&page); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(path, page.Bytes(), 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.resize(width)
	b.call("Page.navigate", object{"url": "file://" + path})
	timeout := time.After(guard)
	for url := ""; url != "file://"+path; { // the empty page that was there may load late
		select {
		case url = <-b.loaded:
		case <-timeout:
			b.t.Fatal("the page does not load")
		}
	}
	b.mu.Lock()
	if len(b.requests) == 0 {
		b.t.Error("requests are not seen")
	}
	b.mu.Unlock()
	b.settle()
}

func (b *browser) resize(width int) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", object{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false})
	b.settle()
}

func (b *browser) theme(name string) {
	b.t.Helper()
	b.call("Emulation.setEmulatedMedia", object{"features": []object{{"name": "prefers-color-scheme", "value": name}}})
	b.settle()
}

// settle waits until what was changed has been drawn: charts follow the width a frame later.
func (b *browser) settle() {
	b.t.Helper()
	b.eval(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => done(1)))))`, nil)
}

// eval runs an expression in the page.
func (b *browser) eval(expression string, into any) {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	err := json.Unmarshal(b.call("Runtime.evaluate", object{"expression": expression, "returnByValue": true, "awaitPromise": true}), &answer)
	if err == nil && answer.ExceptionDetails != nil {
		b.t.Fatalf("%s\n%s", expression, answer.ExceptionDetails)
	}
	if err == nil && into != nil {
		err = json.Unmarshal(answer.Result.Value, into)
	}
	if err != nil {
		b.t.Fatalf("%s\n%v", expression, err)
	}
}

func (b *browser) text(expression string) (text string) {
	b.t.Helper()
	b.eval(expression, &text)
	return text
}

// drag moves the mouse with its button down across an element, between shares of its width.
func (b *browser) drag(selector string, from, to float64) {
	b.t.Helper()
	var box struct{ X, Y, Width, Height float64 }
	b.eval(fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.scrollIntoView({block: "center"}); return e.getBoundingClientRect().toJSON(); })()`, selector), &box)
	mouse := func(kind string, at float64) {
		b.call("Input.dispatchMouseEvent", object{"type": kind, "x": box.X + at*box.Width, "y": box.Y + box.Height/2,
			"button": "left", "buttons": 1, "clickCount": 1})
	}
	mouse("mousePressed", from)
	for i := 1; i <= 4; i++ {
		mouse("mouseMoved", from+(to-from)*float64(i)/4)
	}
	mouse("mouseReleased", to)
	b.settle()
}

func (b *browser) key(key string, modifiers int) {
	b.t.Helper()
	for _, kind := range []string{"keyDown", "keyUp"} {
		b.call("Input.dispatchKeyEvent", object{"type": kind, "key": key, "code": key, "modifiers": modifiers})
	}
	b.settle()
}

// quiet fails if the page reported anything or asked for anything but itself.
func (b *browser) quiet() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range b.problems {
		b.t.Errorf("the page reports %s", p)
	}
	for _, url := range b.requests {
		if !strings.HasPrefix(url, "file://") && !strings.HasPrefix(url, "data:") || strings.HasPrefix(url, "file://") && !strings.HasSuffix(url, "/report.html") {
			b.t.Errorf("the page requests %s", url)
		}
	}
	b.problems, b.requests = nil, nil
}

// screenshot keeps the whole page as a picture, if the environment says where.
func (b *browser) screenshot(name string) {
	b.t.Helper()
	dir := os.Getenv("EVERTICK_SCREENSHOTS")
	if dir == "" {
		return
	}
	var size struct {
		CSSContentSize struct{ Width, Height float64 }
	}
	var picture struct{ Data string }
	err := json.Unmarshal(b.call("Page.getLayoutMetrics", nil), &size)
	err = errors.Join(err, json.Unmarshal(b.call("Page.captureScreenshot", object{"captureBeyondViewport": true, "clip": object{
		"x": 0, "y": 0, "width": size.CSSContentSize.Width, "height": size.CSSContentSize.Height, "scale": 1}}), &picture))
	data, decodeErr := base64.StdEncoding.DecodeString(picture.Data)
	if err = errors.Join(err, decodeErr); err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), data, 0o644)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}
