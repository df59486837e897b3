package browser

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// Page is a tab of the browser. Its methods fail the test if the browser does not do what they ask.
type Page struct {
	t testing.TB
	*session
}

// session is what all values of Page of one tab share.
type session struct {
	browser *browser
	id      string
	loaded  chan string // the address of a page that has loaded
	fingers int         // that touch it

	mu       sync.Mutex
	url      string   // of the page
	opened   []string // what the test has opened
	problems []string // that the page reported
	requests []string // that it made
}

// event notes what the tab, or a worker of it, reports.
func (s *session) event(m *message) {
	var p struct {
		Frame     struct{ URL, ParentID string }
		Request   struct{ URL string }
		Entry     struct{ Source string } // of the log
		URL       string                  // of a WebSocket
		SessionID string                  // of a worker
	}
	if json.Unmarshal(m.Params, &p) != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	switch m.Method {
	case "Page.frameNavigated":
		if p.Frame.ParentID == "" {
			s.url = p.Frame.URL
		}
	case "Page.loadEventFired":
		select {
		case s.loaded <- s.url:
		default: // no test waits for so many pages
		}
	case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled", "Inspector.targetCrashed":
		if p.Entry.Source != "rendering" { // the driver, which draws without a GPU, on how slow it is
			s.problems = append(s.problems, m.Method+": "+string(m.Params))
		}
	case "Network.requestWillBeSent":
		s.requests = append(s.requests, p.Request.URL)
	case "Network.webSocketCreated":
		s.requests = append(s.requests, p.URL)
	case "Target.attachedToTarget": // a worker, which waits until its events are reported
		b := s.browser
		b.mu.Lock()
		b.sessions[p.SessionID] = s
		b.mu.Unlock()
		for _, method := range []string{"Runtime.enable", "Log.enable", "Network.enable", "Runtime.runIfWaitingForDebugger"} {
			_ = b.send(noAnswer, p.SessionID, method, nil)
		}
	}
}

// noAnswer is the id of calls whose answer is of no interest.
const noAnswer = 1 << 30

// With returns the same tab, for another test, such as a subtest.
func (p *Page) With(t testing.TB) *Page { return &Page{t, p.session} }

// Another opens another tab.
func (p *Page) Another() *Page {
	p.t.Helper()
	var target struct{ TargetID string }
	if err := json.Unmarshal(p.browser.call(p.t, "", "Target.createTarget", object{"url": "about:blank"}), &target); err != nil {
		p.t.Fatal(err)
	}
	return p.browser.attach(p.t, target.TargetID)
}

func (p *Page) call(method string, params any) json.RawMessage {
	p.t.Helper()
	return p.browser.call(p.t, p.id, method, params)
}

// File writes a file of the test, and returns its address.
func (p *Page) File(name string, content []byte) (url string) {
	p.t.Helper()
	path := filepath.Join(p.t.TempDir(), name)
	if err := os.WriteFile(path, content, 0o644); err != nil {
		p.t.Fatal(err)
	}
	return "file://" + path
}

// Open loads an address, and waits until it has loaded.
func (p *Page) Open(url string) {
	p.t.Helper()
	p.mu.Lock()
	p.opened = append(p.opened, strings.TrimSuffix(url, "/"))
	p.mu.Unlock()
	p.call("Page.navigate", object{"url": url})
	p.arrive(url)
	if len(p.Requests()) == 0 {
		p.t.Error("requests are not seen")
	}
	p.Settle()
}

// Follow runs statements that make the page go to another address, and waits until that has loaded. Pages that pass the
// browser on may come between. It asks the page nothing meanwhile, as a page that leaves does not answer.
func (p *Page) Follow(statements, url string) {
	p.t.Helper()
	if err := p.browser.send(noAnswer, p.id, "Runtime.evaluate", object{"expression": statements}); err != nil {
		p.t.Fatal(err)
	}
	p.arrive(url)
	p.Settle()
}

// arrive waits until an address has loaded.
func (p *Page) arrive(url string) {
	p.t.Helper()
	timeout := time.After(guard)
	for loaded := ""; strings.TrimSuffix(loaded, "/") != strings.TrimSuffix(url, "/"); { // the page that was there may load late
		select {
		case loaded = <-p.loaded:
		case <-timeout:
			p.t.Fatalf("%s does not load", url)
		}
	}
}

// Resize sets the size of the window in pixels of CSS.
func (p *Page) Resize(width, height int) {
	p.t.Helper()
	p.call("Emulation.setDeviceMetricsOverride", object{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false})
	p.Settle()
}

// Theme sets the theme of the system, light or dark.
func (p *Page) Theme(name string) {
	p.t.Helper()
	p.call("Emulation.setEmulatedMedia", object{"features": []object{{"name": "prefers-color-scheme", "value": name}}})
	p.Settle()
}

// Offline lets the tab have no network, or one again.
func (p *Page) Offline(off bool) {
	p.t.Helper()
	p.call("Network.emulateNetworkConditions", object{"offline": off, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1})
}

// Settle waits until what was changed has been drawn: charts follow the width a frame later.
func (p *Page) Settle() {
	p.t.Helper()
	p.Eval(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => done(1)))))`, nil)
}

// Eval runs an expression in the page, waits if it is a promise, and stores its value, unless into is nil.
func (p *Page) Eval(expression string, into any) {
	p.t.Helper()
	var answer struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	err := json.Unmarshal(p.call("Runtime.evaluate", object{"expression": expression, "returnByValue": true, "awaitPromise": true}), &answer)
	if err == nil && answer.ExceptionDetails != nil {
		p.t.Fatalf("%s\n%s", expression, answer.ExceptionDetails)
	}
	if err == nil && into != nil {
		err = json.Unmarshal(answer.Result.Value, into)
	}
	if err != nil {
		p.t.Fatalf("%s\n%v", expression, err)
	}
}

// Text returns the value of an expression that is a string.
func (p *Page) Text(expression string) (text string) {
	p.t.Helper()
	p.Eval(expression, &text)
	return text
}

// Do runs statements in the page and waits until what they changed has been drawn.
func (p *Page) Do(statements string) {
	p.t.Helper()
	p.Eval("(async () => {"+statements+"})()", nil)
	p.Settle()
}

// Wait waits until an expression is true; after two minutes it fails the test, and says what the page shows.
func (p *Page) Wait(expression string) {
	p.t.Helper()
	for start := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		var is bool
		p.Eval("Boolean("+expression+")", &is)
		if is {
			return
		}
		if time.Since(start) > guard {
			p.t.Fatalf("not so: %s\nThe page reports %q and shows\n%s", expression, p.Problems(), p.Text("document.body.innerText"))
		}
	}
}

// Problems returns what the page and its workers reported: exceptions, violations of its policy, messages to the console.
func (p *Page) Problems() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.problems...)
}

// Requests returns the addresses that the page and its workers asked for.
func (p *Page) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.requests...)
}

// Forget empties the lists of problems and requests.
func (p *Page) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.problems, p.requests = nil, nil
}

// Quiet fails the test if the page reported anything, or asked for anything but what the test opened, addresses that consist of the data,
// blobs of its own and what allow admits, which may be nil. Then it forgets them.
func (p *Page) Quiet(allow func(url string) bool) {
	p.t.Helper()
	for _, problem := range p.Problems() {
		p.t.Errorf("the page reports %s", problem)
	}
	for _, url := range p.Requests() {
		if !slices.Contains(p.opened, strings.TrimSuffix(url, "/")) && !strings.HasPrefix(url, "data:") && !strings.HasPrefix(url, "blob:") && (allow == nil || !allow(url)) {
			p.t.Errorf("the page requests %s", url)
		}
	}
	p.Forget()
}

// Metrics returns what the browser measures of the tab, such as TaskDuration in seconds.
func (p *Page) Metrics() map[string]float64 {
	p.t.Helper()
	var answer struct {
		Metrics []struct {
			Name  string
			Value float64
		}
	}
	if err := json.Unmarshal(p.call("Performance.getMetrics", nil), &answer); err != nil {
		p.t.Fatal(err)
	}
	metrics := map[string]float64{}
	for _, m := range answer.Metrics {
		metrics[m.Name] = m.Value
	}
	return metrics
}

// Image returns what the window shows of an element.
func (p *Page) Image(selector string) image.Image {
	p.t.Helper()
	box := p.Box(selector)
	picture, err := png.Decode(bytes.NewReader(p.capture(box, false)))
	if err != nil {
		p.t.Fatal(err)
	}
	return picture
}

// Screenshot keeps the whole page as a picture, if EVERTICK_SCREENSHOTS names a folder for it.
func (p *Page) Screenshot(name string) {
	p.t.Helper()
	dir := os.Getenv("EVERTICK_SCREENSHOTS")
	if dir == "" {
		return
	}
	var size struct{ CSSContentSize Box }
	err := json.Unmarshal(p.call("Page.getLayoutMetrics", nil), &size)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), p.capture(size.CSSContentSize, true), 0o644)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *Page) capture(clip Box, beyondWindow bool) []byte {
	p.t.Helper()
	var picture struct{ Data string }
	err := json.Unmarshal(p.call("Page.captureScreenshot", object{"captureBeyondViewport": beyondWindow, "clip": object{
		"x": clip.X, "y": clip.Y, "width": clip.Width, "height": clip.Height, "scale": 1}}), &picture)
	data, decodeErr := base64.StdEncoding.DecodeString(picture.Data)
	if err = errors.Join(err, decodeErr); err != nil {
		p.t.Fatal(fmt.Errorf("a picture: %w", err))
	}
	return data
}
