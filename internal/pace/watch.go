package pace

import (
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

// Watched, if not nil, collects the times of all stages. Measurements set it between runs, where no other team
// runs at the same time.
var Watched *Watch

// Watch collects where the time between Start and Stop goes: into stages, each of which is work that a leader shares
// with helpers or does alone, and into what the leader does before each of them. A stage within another one is
// part of it.
type Watch struct {
	stages []Stage
	places map[stageKey]int
	after  time.Duration

	busy  atomic.Bool   // a stage is in progress
	name  string        // of the next stage; empty: the name of its work
	at    int           // the stage in progress
	last  time.Duration // end of the stage before, or Start
	began time.Duration // of the stage in progress
	found time.Duration // when the leader found no more chunks; 0: not yet
}

// Stage is what a Watch knows of all stages of one name.
type Stage struct {
	Name string
	// Alone: the work is one chunk, which no number of workers shares.
	Alone bool

	Calls, Chunks, Theirs int // Theirs: chunks of helpers

	Before time.Duration // since the stage before, in which the leader is alone
	Worked time.Duration // by the leader, until it found no more chunks
	Waited time.Duration // by the leader, for chunks of helpers
	Helped time.Duration // in chunks of helpers, of all together
}

// Took is how long the leader was in these stages.
func (s *Stage) Took() time.Duration { return s.Worked + s.Waited }

type stageKey struct {
	name  string
	alone bool
}

// Start begins the time before the first stage.
func (w *Watch) Start() { w.name, w.last = "", Now() }

// Stop ends the time after the last stage.
func (w *Watch) Stop() { w.after += Now() - w.last }

// Take returns the stages since the last Take, in the order in which they first began, and the time after the last one. The
// stages are valid until the next Start.
func (w *Watch) Take() (stages []Stage, after time.Duration) {
	stages, after = w.stages, w.after
	w.stages, w.places, w.after = nil, nil, 0
	return stages, after
}

// Name names the next stage after a function or the type of a task. Of several names the first one counts.
func Name(work any) {
	if w := Watched; w != nil && !w.busy.Load() && w.name == "" {
		w.name = nameOf(work)
	}
}

// Skip forgets the name of a stage that has nothing to do.
func Skip() {
	if w := Watched; w != nil && !w.busy.Load() {
		w.name = ""
	}
}

// Begin begins a stage if stages are watched. Else, and within another stage, it returns nil, on which all calls do nothing.
func Begin(work any, alone bool) *Watch {
	if Watched == nil {
		return nil
	}
	return Watched.begin(work, alone)
}

func (w *Watch) begin(work any, alone bool) *Watch {
	if !w.busy.CompareAndSwap(false, true) {
		return nil
	}
	key := stageKey{w.name, alone}
	if w.name == "" {
		key.name = nameOf(work)
	}
	w.name = ""
	at, known := w.places[key]
	if !known {
		if w.places == nil {
			w.places = map[stageKey]int{}
		}
		at = len(w.stages)
		w.stages, w.places[key] = append(w.stages, Stage{Name: key.name, Alone: alone}), at
	}
	w.at, w.found, w.began = at, 0, Now()
	return w
}

// Found notes that the leader has found no more chunks.
func (w *Watch) Found() {
	if w != nil {
		w.found = Now()
	}
}

// End ends a stage of so many chunks, of which helpers have done some in that time. The leader calls it.
func (w *Watch) End(chunks, theirs int, helped time.Duration) {
	if w == nil {
		return
	}
	now, s := Now(), &w.stages[w.at]
	if w.found == 0 {
		w.found = now
	}
	s.Calls++
	s.Chunks += chunks
	s.Theirs += theirs
	s.Before += w.began - w.last
	s.Worked += w.found - w.began
	s.Waited += now - w.found
	s.Helped += helped
	w.last = now
	w.busy.Store(false)
}

// nameOf returns the package and the name of a function, or of a type, without the receiver.
func nameOf(work any) string {
	v := reflect.ValueOf(work)
	if v.Kind() != reflect.Func {
		return strings.TrimPrefix(v.Type().String(), "*")
	}
	name := runtime.FuncForPC(v.Pointer()).Name()
	name = strings.TrimSuffix(name[strings.LastIndexByte(name, '/')+1:], "-fm")
	if pkg, method, ok := strings.Cut(name, ".("); ok {
		if _, method, ok = strings.Cut(method, ")."); ok {
			return pkg + "." + method
		}
	}
	return name
}
