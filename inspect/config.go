package inspect

import (
	"errors"
	"net"
	"strings"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/inspector"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/replica"
	"github.com/evertick/evertick/worldlog"
)

// Config says what a page shows and which clients may look at it. The zero value works for a page of this machine.
type Config struct {
	// Name is the title. "": the name of the Scenario, or "simulation".
	Name string
	// Control lets pages pause and step the Sim.
	Control bool

	// Log is the folder of the log that the timeline scrubs, for instance the one that the Sim is being recorded
	// to, and Scenario runs it again. Other is the folder of a second log, to compare with. FS reads them; nil: the
	// file system of the machine.
	Scenario   replay.Scenario
	Log, Other string
	FS         worldlog.FS
	// Replica is a server whose sessions, traffic and times are shown.
	Replica *replica.Server
	// Trace lists agents and skills whose causal trace is shown. Each passes its records on to TraceTo, such as the
	// log of a replay.Recorder, unless that is nil.
	Trace   []interface{ LogTo(worldlog.Appender) }
	TraceTo worldlog.Appender

	// Token is a secret of at least 16 bytes. If it is set, every request needs it: a browser gets it as a
	// cookie, valid for 24 hours, from the address of the page followed by ?token=…, other clients send the header
	// "Authorization: Bearer …". Without it only connections of this machine are answered.
	Token string
	// Hosts lists further names and addresses, without a port, that the page is reached by, such as the one of a proxy.
	// Those of this machine ("localhost", 127.0.0.1, ::1), and the address that accepted the connection, are always allowed.
	Hosts []string
	// Logf prints the address of the page. nil: to standard error.
	Logf func(format string, args ...any)
}

// minToken is the least length of a Token: 128 bits if its bytes are random.
const minToken = 16

// validate returns all faults of the fields that concern HTTP; inspector.New checks the others.
func (c *Config) validate() error {
	var errs []error
	if n := len(c.Token); n > 0 && n < minToken { // the message must not contain the secret
		errs = append(errs, fault.Field(fault.ErrRange, "inspect: len(Config.Token)", n))
	}
	for i, h := range c.Hosts {
		if h == "" || strings.ContainsAny(h, "/@ ") || net.ParseIP(h) == nil && strings.Contains(h, ":") {
			errs = append(errs, fault.Element(fault.ErrRange, "inspect: Config.Hosts", i, h))
		}
	}
	return errors.Join(errs...)
}

func (c *Config) inspector() inspector.Config {
	return inspector.Config{
		Name: c.Name, Control: c.Control,
		Scenario: c.Scenario, Log: c.Log, Other: c.Other, FS: c.FS,
		Replica: c.Replica, Trace: c.Trace, TraceTo: c.TraceTo,
	}
}
