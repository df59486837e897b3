package browser

import (
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"
)

// With returns the same tab, for another test, such as a subtest.
func (p *Page) With(t testing.TB) *Page { return &Page{t, p.session} }

// Another opens another tab.
func (p *Page) Another() *Page {
	p.t.Helper()
	return open(p.t, p.ctx, "another tab")
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
	run(p, chromedp.Navigate(url))
	if len(p.Requests()) == 0 {
		p.t.Error("requests are not seen")
	}
	p.Settle()
}

// Follow runs statements that make the page go to another address, and waits until that has loaded. Pages that pass the
// browser on may come between.
func (p *Page) Follow(statements, url string) {
	p.t.Helper()
	there := func(e page.EventFrameNavigated) bool {
		return e.Frame.ParentID == "" && strings.TrimSuffix(e.Frame.URL, "/") == strings.TrimSuffix(url, "/")
	}
	run(p, chromedp.WaitEvent(page.FrameNavigated, there, chromedp.Evaluate[chromedp.Void]("setTimeout(() => {"+statements+"})")))
	p.Wait(`document.readyState === "complete"`)
	p.Settle()
}

// Resize sets the size of the window in pixels of CSS.
func (p *Page) Resize(width, height int) {
	p.t.Helper()
	run(p, chromedp.EmulateViewport(int64(width), int64(height)))
	p.Settle()
}

// Theme sets the theme of the system, light or dark.
func (p *Page) Theme(name string) {
	p.t.Helper()
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}}})
	p.Settle()
}

// Offline lets the tab have no network, or one again.
func (p *Page) Offline(off bool) {
	p.t.Helper()
	call(p, network.EmulateNetworkConditionsByRule, network.EmulateNetworkConditionsByRuleParams{
		MatchedNetworkConditions: []*network.Conditions{{Offline: off, DownloadThroughput: -1, UploadThroughput: -1}}})
}

// Settle waits until what was changed has been drawn: charts follow the width a frame later.
func (p *Page) Settle() {
	p.t.Helper()
	p.Eval(`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => done(1)))))`, nil)
}

// Eval runs an expression in the page, waits if it is a promise, and stores its value, unless into is nil.
func (p *Page) Eval(expression string, into any) {
	p.t.Helper()
	value := run(p, chromedp.Evaluate[[]byte](expression, chromedp.EvalAwaitPromise))
	if into == nil {
		return
	}
	if err := json.Unmarshal(value, into); err != nil {
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
	return slices.Clone(p.problems)
}

// Requests returns the addresses that the page and its workers asked for.
func (p *Page) Requests() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
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
	metrics := map[string]float64{}
	for _, m := range call(p, performance.GetMetrics, cdp.Empty{}).Metrics {
		metrics[m.Name] = m.Value
	}
	return metrics
}

// Image returns what the window shows of an element.
func (p *Page) Image(selector string) image.Image {
	p.t.Helper()
	picture, err := png.Decode(bytes.NewReader(run(p, chromedp.Screenshot(chromedp.CSS(selector)))))
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
	if err := os.WriteFile(filepath.Join(dir, name+".png"), run(p, chromedp.FullScreenshot(100)), 0o644); err != nil {
		p.t.Fatal(err)
	}
}

// Box is a rectangle of the window, in pixels of CSS.
type Box struct{ X, Y, Width, Height float64 }

// At returns the point at shares of the width and the height.
func (b Box) At(right, down float64) (x, y float64) { return b.X + right*b.Width, b.Y + down*b.Height }

// Box scrolls an element into view, and returns where it is.
func (p *Page) Box(selector string) (box Box) {
	p.t.Helper()
	p.Eval(fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.scrollIntoView({block: "center", behavior: "instant"}); return e.getBoundingClientRect().toJSON(); })()`, selector), &box)
	return box
}
