package inspector

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/replay"
)

// post sends a body while the caller's goroutine advances the Sim, and returns the timeline after it.
func post(t *testing.T, in *Inspector, sim *evertick.Sim, body string) *timelineAnswer {
	t.Helper()
	answers := make(chan Answer, 1)
	go func() {
		answers <- in.Answer(context.Background(), &Request{Method: "POST", Path: "timeline", Body: []byte(body)})
	}()
	for {
		select {
		case a := <-answers:
			v := decode[timelineAnswer](t, a)
			return &v
		default:
			advance(t, sim, 1)
			time.Sleep(100 * time.Microsecond)
		}
	}
}

// advance advances by frames of a tick.
func advance(t *testing.T, sim *evertick.Sim, frames int) {
	t.Helper()
	for range frames {
		if _, err := sim.Advance(16_666_667); err != nil {
			t.Fatal(err)
		}
	}
}

// A page pauses a live Sim, steps it tick by tick and lets it go on; while it is paused, all requests are answered.
// Hashes are those of a Sim that nobody looks at.
func TestLiveControl(t *testing.T) {
	p, err := newPit(7)
	if err != nil {
		t.Fatal(err)
	}
	sim := p.sim
	in := newInspector(t, sim, Config{Control: true})
	advance(t, sim, 10)
	if a := post(t, in, sim, `{"of":"live","pause":true}`); !a.Paused || !a.Live || !a.Control || a.Log != nil {
		t.Errorf("%+v", a)
	}
	stopped := sim.Ticks()
	advance(t, sim, 20)
	if sim.Ticks() != stopped {
		t.Fatalf("paused at %d, now at %d", stopped, sim.Ticks())
	}
	for _, n := range []uint64{1, 1, 5} {
		post(t, in, sim, `{"of":"live","step":`+string(rune('0'+n))+`}`)
		advance(t, sim, 10)
		if stopped += n; sim.Ticks() != stopped {
			t.Fatalf("stepped by %d: at %d, want %d", n, sim.Ticks(), stopped)
		}
	}
	for _, path := range []string{"status", "timeline", "frame", "world", "columns"} {
		r := request(t, path)
		answers := make(chan Answer, 1)
		go func() { answers <- in.Answer(context.Background(), r) }()
		for done := false; !done; time.Sleep(100 * time.Microsecond) {
			select {
			case a := <-answers:
				if done = true; a.Status != 200 {
					t.Errorf("%s while paused: %d %s", path, a.Status, a.Body)
				}
			default:
				advance(t, sim, 1)
			}
		}
	}
	if sim.Ticks() != stopped || !timelineOf(t, in).Paused {
		t.Errorf("at %d, want %d", sim.Ticks(), stopped)
	}
	if a := post(t, in, sim, `{"of":"live","pause":false}`); a.Paused {
		t.Errorf("%+v", a)
	}
	advance(t, sim, 10)
	if sim.Ticks() < stopped+10 {
		t.Errorf("goes on: at %d after %d", sim.Ticks(), stopped)
	}
	alone := pitAt(t, int(sim.Ticks()))
	if alone.sim.Hash() != sim.Hash() {
		t.Errorf("hash %x, alone %x", sim.Hash(), alone.sim.Hash())
	}
	for _, body := range []string{`{"of":"live","step":0}`, `{"of":"live","step":-1}`, `{"of":"live","seek":1}`, `{"of":"live","play":60}`} {
		if a := answerTo(t, in, "timeline", body); a.Status != 400 {
			t.Errorf("%s: %d %s", body, a.Status, a.Body)
		}
	}
}

// A step that comes at a safe point within a frame of several ticks runs the ticks after it.
func TestLiveStepWithinAFrame(t *testing.T) {
	p, err := newPit(7)
	if err != nil {
		t.Fatal(err)
	}
	in := newInspector(t, p.sim, Config{Control: true})
	n := int64(3)
	begun := make(chan struct{})
	p.sim.AddHooks(evertick.Hooks{BeforeTick: func(tick *evertick.Tick) error {
		if tick.N == 1 {
			go func() {
				close(begun)
				_ = in.live.move(context.Background(), &move{Step: &n})
			}()
			<-begun
			for waiting := 0; waiting == 0; time.Sleep(time.Millisecond) {
				in.live.mu.Lock()
				waiting = len(in.live.waiting[0].lines)
				in.live.mu.Unlock()
			}
		}
		return nil
	}})
	for range 10 {
		advance(t, p.sim, 1)
	}
	if p.sim.Ticks() != 2+3 {
		t.Errorf("stopped at %d, want 5", p.sim.Ticks())
	}
}

// It works for Run, too, and for many pages at once that control the Sim and its log while both move.
func TestControlOfRun(t *testing.T) {
	sc := pitScenario(nil)
	w := newWriter(t, sc, replay.Options{})
	w.write(5) // so that the log has the ticks that are compared
	in := newInspector(t, w.sim, Config{Control: true, Log: w.dir, Scenario: sc})
	ctx, cancel := context.WithCancel(t.Context())
	var pages, run sync.WaitGroup
	run.Go(func() {
		if err := w.sim.RunFrames(ctx, func(loop.Frame) {}); err != nil && ctx.Err() == nil {
			t.Error(err)
		}
	})
	for page := range 4 {
		pages.Go(func() {
			for i, body := range []string{`{"of":"live","pause":true}`, `{"of":"log","seek":1}`, `{"of":"live","step":2}`, `{"of":"log","play":500}`,
				`{"of":"log","step":1}`, `{"of":"live","pause":false}`, `{"of":"log","play":0}`} {
				if a := answerTo(t, in, "timeline", body); a.Status != 200 && a.Status != 400 {
					t.Errorf("page %d, %s: %d %s", page, body, a.Status, a.Body)
				}
				for _, path := range []string{"timeline", "status?of=log", "frame?of=log", "frame?of=live", "diff?a=0&b=1"} {
					if a := answerTo(t, in, path); a.Status >= 400 {
						t.Errorf("page %d, %d, %s: %d %s", page, i, path, a.Status, a.Body)
					}
				}
			}
		})
	}
	pages.Wait()
	if a := answerTo(t, in, "timeline", `{"of":"live","pause":true}`); a.Status != 200 {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	stopped := decode[status](t, answerTo(t, in, "status?of=live"))
	time.Sleep(50 * time.Millisecond)
	if now := decode[status](t, answerTo(t, in, "status?of=live")); now.State != "paused" || now.Tick != stopped.Tick {
		t.Errorf("%s at %d, and %s at %d", stopped.State, stopped.Tick, now.State, now.Tick)
	}
	cancel()
	run.Wait()
	last := w.sim.Ticks()
	hash := w.sim.Hash()
	w.close()
	until(t, in, "the end", func(l *logTimeline) bool { return l.Complete && l.Last == last })
	if got := at(t, in, last); got != hash {
		t.Errorf("hash %x, want %x", got, hash)
	}
}
