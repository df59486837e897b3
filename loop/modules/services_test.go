package modules_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/loop/modules"
)

type weather interface{ Wind() float32 }

type calm struct{ wind float32 }

func (c *calm) Wind() float32 { return c.wind }

func TestServicesByTypeAndName(t *testing.T) {
	e, _ := engine(t, modules.Config{})
	s := e.Services()
	provide := func(name string, w weather) {
		t.Helper()
		if err := modules.Provide(s, name, w); err != nil {
			t.Fatal(err)
		}
	}
	provide("", &calm{1})
	provide("north", &calm{2})
	if err := modules.Provide(s, "", &calm{3}); err != nil { // another type
		t.Fatal(err)
	}
	for name, wind := range map[string]float32{"": 1, "north": 2} {
		if w, ok := modules.Find[weather](s, name); !ok || w.Wind() != wind {
			t.Errorf("%q: %v, %v", name, w, ok)
		}
	}
	if c, ok := modules.Find[*calm](s, ""); !ok || c.wind != 3 {
		t.Errorf("%v, %v", c, ok)
	}
	if w, ok := modules.Find[weather](s, "south"); ok || w != nil {
		t.Errorf("%v, %v", w, ok)
	}
	if n, ok := modules.Find[int](s, ""); ok || n != 0 {
		t.Errorf("%v, %v", n, ok)
	}
	err := modules.Provide[weather](s, "north", &calm{9})
	if !errors.Is(err, modules.ErrRange) || err.Error() != `modules: Provide: modules_test.weather = "north", which exists already: out of range` {
		t.Errorf("err = %v", err)
	}
	if w, _ := modules.Find[weather](s, "north"); w.Wind() != 2 {
		t.Error("the refused one is there")
	}
	if _, ok := modules.Find[weather](e.Presentation(), ""); ok {
		t.Error("the two sets are one")
	}
	defer func() {
		if got := recover(); got != "modules: Provide: nil service" {
			t.Errorf("panic %v", got)
		}
	}()
	_ = modules.Provide[weather](s, "nothing", nil)
}

// A module provides a service in Start; the modules after it find it; after Start it is too late.
func TestServicesAreProvidedBeforeTheFirstTick(t *testing.T) {
	found := 0
	e, _ := engine(t, modules.Config{},
		&fake{name: "a", start: func(c *modules.StartContext) error {
			return errors.Join(modules.Provide[weather](c.Services(), "", &calm{4}), modules.Provide(c.Presentation(), "started", time.Unix(5, 0)))
		}},
		&fake{name: "b",
			start: func(c *modules.StartContext) error {
				if _, ok := modules.Find[weather](c.Services(), ""); ok {
					found++
				}
				return nil
			},
			update: func(c *modules.UpdateContext) error {
				if w, ok := modules.Find[weather](c.Services(), ""); ok && w.Wind() == 4 {
					found++
				}
				return modules.Provide(c.Services(), "late", 1)
			},
			render: func(c *modules.RenderContext, _ float64) error {
				_, date := modules.Find[time.Time](c.Presentation(), "started")
				if _, ok := modules.Find[weather](c.Services(), ""); ok && date {
					found++
				}
				return nil
			}})
	if err := e.Start(); err != nil {
		t.Fatal(err)
	}
	advance(t, e, 0)
	_, err := e.Advance(tickNs)
	if !errors.Is(err, modules.ErrStarted) || !strings.Contains(err.Error(), `modules: Provide: int "late"`) || found != 3 {
		t.Errorf("%v, found %d", err, found)
	}
}

type (
	withField    struct{ Started time.Time }
	withDeep     struct{ List []map[string]*withField }
	withEmbedded struct{ inner }
	inner        struct{ Clock loop.Clock }
	withMethod   struct{}
	withNow      struct{}
	withLoop     struct{ Loop *loop.Loop }
	withTicker   struct{ C <-chan time.Time }
	withFunc     struct{ When func() time.Time }
	hidden       struct{ t time.Time }
	recursive    struct {
		Next  *recursive
		Since time.Duration
	}
)

func (*withMethod) Last() (int, withField) { return 0, withField{} }
func (withNow) Now() int64                 { return 0 }
func (h *hidden) Age() int                 { return h.t.Year() }

// typeName names the type of v.
func typeName(v any) string { return fmt.Sprintf("%T", v) }

func TestServicesForUpdatesCarryNoClock(t *testing.T) {
	refused := func(err error, path string) {
		t.Helper()
		if !errors.Is(err, modules.ErrClock) || err.Error() != "modules: Provide: "+path+": carries a clock" {
			t.Errorf("err = %v, want %s", err, path)
		}
	}
	e, _ := engine(t, modules.Config{})
	s := e.Services()
	refused(modules.Provide(s, "", time.Time{}), "time.Time")
	refused(modules.Provide(s, "", &withField{}), "modules_test.withField.Started: time.Time")
	refused(modules.Provide(s, "", withDeep{}), "modules_test.withDeep.List: modules_test.withField.Started: time.Time")
	refused(modules.Provide(s, "", withEmbedded{}), "modules_test.withEmbedded.inner: modules_test.inner.Clock: loop.Clock")
	refused(modules.Provide(s, "", withMethod{}), "modules_test.withMethod.Last: modules_test.withField.Started: time.Time")
	refused(modules.Provide(s, "", withNow{}), "modules_test.withNow.Now")
	refused(modules.Provide(s, "", withLoop{}), "modules_test.withLoop.Loop: loop.Loop")
	refused(modules.Provide(s, "", withTicker{}), "modules_test.withTicker.C: time.Time")
	refused(modules.Provide(s, "", withFunc{}), "modules_test.withFunc.When: func() time.Time: time.Time")
	refused(modules.Provide(s, "", time.Now), "func() time.Time: time.Time")
	refused(modules.Provide(s, "", e), "modules.Engine")
	refused(modules.Provide(s, "", loop.Frame{}), "loop.Frame")
	// A clock in an interface whose methods have none.
	refused(modules.Provide[any](s, "", &withField{}), "modules_test.withField.Started: time.Time")
	for _, v := range []any{new(loop.SystemClock), new(loop.ManualClock), os.Stdout, context.Background(), time.NewTimer(0)} {
		if err := modules.Provide(s, "", v); !errors.Is(err, modules.ErrClock) {
			t.Errorf("%T: %v", v, err)
		}
		if err := modules.Provide(e.Presentation(), typeName(v), v); err != nil {
			t.Errorf("%T for rendering: %v", v, err)
		}
	}
	for _, v := range []any{1, "text", &recursive{}, &hidden{}, time.Second, loop.SimTime{}, loop.Rand{}, func() int64 { return 0 }, []any{1}} {
		if err := modules.Provide(s, typeName(v), v); err != nil {
			t.Errorf("%T: %v", v, err)
		}
	}
}
