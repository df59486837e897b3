// Package browser drives a headless Chromium with chromedp, for tests of pages: it opens them, moves the mouse, presses keys, and
// collects what they report and request. Tests skip where there is no Chromium.
package browser

import (
	"context"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/cdp/jsonv2"
	"github.com/chromedp/cdproto/inspector"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
	"github.com/evertick/evertick/internal/paritytest"
)

// guard is how long an answer may take on the busiest of machines.
const guard = 2 * time.Minute

// Page is a tab of the browser. Its methods fail the test if the browser does not do what they ask.
type Page struct {
	t testing.TB
	*session
}

// session is what all values of Page of one tab share.
type session struct {
	ctx     context.Context // of chromedp
	fingers int             // that touch it

	mu       sync.Mutex
	opened   []string // what the test has opened
	problems []string // that the page reported
	requests []string // that it made
}

// Start starts a browser with an empty page, which the end of the test ends. It skips the test in a short or instrumented
// run and where Chromium is not installed or does not start; what names the page in the reason.
func Start(t *testing.T, what string) *Page {
	t.Helper()
	return start(t, what, chromedp.DisableGPU)
}

// StartGL is like Start, for pages that draw much with WebGL: without a GPU, but not copied by the main thread of the
// page. Other pages are drawn more slowly.
func StartGL(t *testing.T, what string) *Page {
	t.Helper()
	return start(t, what, chromedp.Flag("use-gl", "angle"), chromedp.Flag("use-angle", "swiftshader"))
}

func start(t *testing.T, what string, more ...chromedp.ExecAllocatorOption) *Page {
	t.Helper()
	if testing.Short() || paritytest.Instrumented {
		t.Skipf("not run: %s in a browser: this is a short or an instrumented run", what)
	}
	home, err := os.MkdirTemp("", "browser") // a child that outlives Chromium may still write there
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	options := slices.Concat(chromedp.DefaultExecAllocatorOptions[:], []chromedp.ExecAllocatorOption{
		chromedp.NoSandbox, chromedp.Env("HOME=" + home),
		chromedp.Flag("enable-unsafe-swiftshader", true), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
	}, more)
	ctx, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	p := open(t, ctx, what)
	t.Cleanup(func() { _ = chromedp.Cancel(p.ctx) })
	return p
}

// open opens a tab in the browser of a context, or in a new one, without which it skips the test.
func open(t testing.TB, in context.Context, what string) *Page {
	t.Helper()
	p := &Page{t, &session{}}
	p.ctx, _ = chromedp.NewContext(in, chromedp.WithListener(p.note))
	if err := chromedp.Do(p.ctx); chromedp.FromContext(p.ctx).Browser == nil {
		t.Skipf("not run: %s in a browser: %v", what, err)
	} else if err != nil {
		t.Fatal(err)
	}
	call(p, performance.Enable, performance.EnableParams{})
	flatten := true
	call(p, target.SetAutoAttach, target.SetAutoAttachParams{AutoAttach: true, WaitForDebuggerOnStart: true, Flatten: &flatten})
	return p
}

// note notes what the tab, or a worker of it, reports.
func (s *session) note(event any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Source != "rendering" { // the driver, which draws without a GPU, on how slow it is
			s.problem(e)
		}
	case *runtime.EventExceptionThrown, *runtime.EventConsoleAPICalled, *inspector.EventTargetCrashed:
		s.problem(e)
	case *network.EventRequestWillBeSent:
		s.requests = append(s.requests, e.Request.URL)
	case *network.EventWebSocketCreated:
		s.requests = append(s.requests, e.URL)
	case *target.EventAttachedToTarget: // a worker, which waits until its events are reported
		go func() {
			worker, _ := chromedp.NewContext(s.ctx, chromedp.WithTargetID(e.TargetInfo.TargetID), chromedp.WithDetachOnCancel(), chromedp.WithListener(s.note))
			_, _ = chromedp.Call(worker, runtime.RunIfWaitingForDebugger, cdp.Empty{}) // it may have ended
		}()
	}
}

func (s *session) problem(event any) {
	text, err := jsonv2.Marshal(event, chromedp.DefaultMarshalOptions)
	if err != nil {
		text = []byte(err.Error())
	}
	s.problems = append(s.problems, string(text))
}

// run lets the tab do something, which fails the test if it fails.
func run[T any](p *Page, action chromedp.Action[T]) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, guard)
	defer cancel()
	result, err := chromedp.Run(ctx, action)
	if err != nil {
		p.t.Fatal(err)
	}
	return result
}

// call calls a method of the protocol.
func call[P, R any](p *Page, method cdp.Command[P, R], params P) R {
	p.t.Helper()
	return run(p, func(ctx context.Context, t *chromedp.Target) (R, error) { return cdp.Call(ctx, t, method, params) })
}
