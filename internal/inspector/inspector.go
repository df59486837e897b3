package inspector

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"slices"
	"sync/atomic"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/replica"
	"github.com/evertick/evertick/worldlog"
)

// Config of an Inspector. The zero value works for a live Sim.
type Config struct {
	// Name is the title of the page. "": the name of the scenario, or "simulation".
	Name string
	// Control lets pages pause and step the live Sim.
	Control bool
	// Scenario builds the Sims of the logs, and FS holds the logs; nil: the files of the system. Log is the
	// folder of a log to look at, such as the live Sim's; Other is the folder of a log to compare it with.
	Scenario   replay.Scenario
	Log, Other string
	FS         worldlog.FS
	// Replica, if not nil, is the server whose Stats are shown.
	Replica *replica.Server
	// Trace are the agents and skills whose causal trace is shown; TraceTo is where their steps went
	// so far, and still go.
	Trace   []interface{ LogTo(worldlog.Appender) }
	TraceTo worldlog.Appender
}

// Inspector answers requests about its subjects. All methods but Between may be called from any
// goroutine.
type Inspector struct {
	config   Config
	run      string // random, so that a page notices a restart
	live     *live  // nil: there is none
	subjects []subject
	closed   atomic.Bool
}

// New returns an Inspector of a live Sim, of the logs that the Config names, or of both. It adds hooks to
// the Sim: call it where Step may be called. sim may be nil if there is a log. A Config that names
// nothing to look at, or Other without Log, is ErrRange; other errors are those of the log.
func New(sim *evertick.Sim, c Config) (*Inspector, error) {
	if sim == nil && c.Log == "" {
		return nil, fault.Field(fault.ErrRange, "inspect: Config.Log without a Sim", `""`)
	}
	if c.Other != "" && c.Log == "" {
		return nil, fault.Field(fault.ErrRange, "inspect: Config.Other without Log", c.Other)
	}
	c.Name = cmp.Or(c.Name, c.Scenario.Name, "simulation")
	var run [8]byte
	_, _ = rand.Read(run[:]) // never fails
	in := &Inspector{config: c, run: hex.EncodeToString(run[:])}
	if err := in.openLogs(); err != nil {
		return nil, errors.Join(err, in.Close())
	}
	if sim != nil {
		in.live = newLive(sim)
		in.attachTrace(sim, in.live)
		in.subjects = slices.Insert(in.subjects, 0, subject(in.live))
	}
	return in, nil
}

// Between makes this moment a safe point of the live Sim. A host whose Sim neither steps nor has frames
// for a while calls it several times a second, so that pages are answered. A host whose Sim has failed may
// go on to call it: pages then see the state in which the Sim stopped. Call it where Step may be called. It
// does nothing without a live Sim.
func (in *Inspector) Between() {
	if l := in.live; l != nil {
		l.betweenAt.Store(l.now() + 1)
		l.afterFrame(l.sim.Frame())
	}
}

// Close ends all requests that wait, and refuses later ones, with status 503. Hooks remove themselves at
// the next safe point. A second call does nothing.
func (in *Inspector) Close() error {
	in.closed.Store(true)
	var errs []error
	for _, s := range in.subjects {
		errs = append(errs, s.close())
	}
	return errors.Join(errs...)
}
