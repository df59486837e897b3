package replica

import (
	"cmp"
	"context"
	"math"
	"time"
	"unicode/utf8"

	"github.com/evertick/evertick/internal/fault"
)

// Config of a Server. The zero value works: it sends positions, to 1/256 m, and rotations of all
// entities to every client, after every tick.
type Config struct {
	// Every is the number of ticks between two updates, 1 to 65,536. 0: 1.
	Every int
	// Columns are sent. nil: "position", Quantised, and "rotation", Quat. Teleports, of ecs.World.Jump,
	// are sent if Previous is set in the Config of the Sim.
	Columns []Column
	// Tags are sent, at most 32.
	Tags []string
	// Owner names a column of one unsigned integer, of at most 32 bits: the number of the session that
	// owns the entity, or 0. Owned entities are in the view of their session, and only it gets the
	// columns that go to Owner. A Server begins no more sessions than the column has numbers, which are
	// soon used up if it has 8 or 16 bits. Empty: there are no owners.
	Owner string
	// View says what each client sees.
	View ViewConfig
	// Ring is the number of past updates that can be a base, 2 to 1024, also of those that were skipped. 0: 32. Each
	// takes four bytes for each lane of each slot. On a transport that is not ordered, Ring must exceed the number of updates in
	// a round trip: otherwise clients get only Keyframes.
	Ring int
	// Budget is the most bytes of an update. If there is more to send, what is most important comes
	// first: see ViewConfig.Weight. 0: no limit. Otherwise at least 256. Entities that leave, those that
	// the session owns, and a bit for each entity in the view are always sent. So are one entity that comes
	// into view and the changes of one more: none waits forever. While a view has two entities for each
	// byte of Budget, no more come into it.
	Budget int
	// Slow says what happens to a client whose connection does not take an update.
	Slow SlowPolicy
	// SlowTicks is the number of updates in a row that a connection may refuse under Disconnect. 0: 60.
	SlowTicks int
	// Limits bound what clients may do.
	Limits Limits
	// Authorize allows or refuses a client, in each Join: before a session exists, and before one is resumed. Many
	// calls may run at the same time. An error refuses the client, which gets only the Code in it, or
	// Unauthorized. nil: all are allowed, with the zero Grant.
	Authorize func(ctx context.Context, h Hello) (Grant, error)
	// Joined and Left are kinds of inputs that the Server pushes, with the session as Source, when a
	// session begins and when it has ended. The Data of Joined is Grant.Data. Joined has the Seq 0, and
	// Left the greatest. Left is applied after the last input of the session: an input for a later tick
	// delays it by up to Limits.Lead. 0: the Server pushes no such input.
	Joined, Left uint32
	// Secret signs the tokens with which clients resume their sessions, and lets them do so after a
	// restart of the server. At least 16 bytes, hard to guess. nil: a random one, for the life of the
	// Server.
	Secret []byte
	// Scenario is a name that clients which simulate can compare with theirs.
	Scenario string
	// Spectate is for a Sim that follows another one, such as that of a replay.Player, or for viewers beside the
	// players of another Server. Sessions only watch: they own nothing, no input reaches the Sim, and those of
	// clients are dropped and counted in IntentStats.Refused. Joined and Left do not count. Set all else as in the
	// Server of the players: clients then find the same Schema. Numbers of sessions are from FirstSpectator on.
	Spectate bool
	// Inline makes the goroutine of the Sim encode and send the updates, so that all is sent when Step
	// returns: for tests, and for few clients. Otherwise the Server has a goroutine for that, and the
	// Sim only waits for a copy of the state.
	Inline bool
}

// Validate returns one error that joins all faults, except those of names: only New can look these up in the
// World.
func (c Config) Validate() error {
	faults := fault.List{Package: "replica"}
	c.checkRanges(&faults)
	if c.Slow > Disconnect {
		faults.Add(fault.ErrRange, "Config.Slow", c.Slow)
	}
	faults.Range("Config.SlowTicks", c.SlowTicks, 0, math.MaxInt32)
	if c.Joined != 0 && c.Joined == c.Left {
		faults.Add(fault.ErrRange, "Config.Left, which is Joined", c.Left)
	}
	if c.Secret != nil && len(c.Secret) < leastSecret {
		faults.Add(fault.ErrRange, "Config.Secret: length", len(c.Secret))
	}
	if len(c.Scenario) > mostName || !utf8.ValidString(c.Scenario) {
		faults.Add(fault.ErrRange, "Config.Scenario", c.Scenario)
	}
	l := &c.Limits
	faults.Range("Config.Limits.Sessions", l.Sessions, 0, mostSessions)
	faults.Range("Config.Limits.FrameBytes", l.FrameBytes, 0, mostMessageBytes)
	faults.Range("Config.Limits.FramesPerSecond", l.FramesPerSecond, 0, mostPerSecond)
	faults.Range("Config.Limits.BytesPerSecond", l.BytesPerSecond, 0, mostPerSecond)
	if l.Resume > mostResume {
		faults.Add(fault.ErrRange, "Config.Limits.Resume", l.Resume)
	}
	return faults.Err()
}

// checkRanges adds the faults of the numbers on which messages depend.
func (c *Config) checkRanges(faults *fault.List) {
	faults.Range("Config.Every", c.Every, 0, mostEvery)
	if c.Ring != 0 {
		faults.Range("Config.Ring", c.Ring, 2, mostRing)
	}
	if c.Budget != 0 {
		faults.Range("Config.Budget", c.Budget, leastBudget, math.MaxInt32)
	}
	v := &c.View
	for _, d := range [...]struct {
		name  string
		value float32
	}{{"Config.View.Enter", v.Enter}, {"Config.View.Leave", v.Leave}} {
		if !fault.Finite(d.value) {
			faults.Add(fault.ErrNotFinite, d.name, d.value)
		} else if d.value < 0 {
			faults.Add(fault.ErrRange, d.name, d.value)
		}
	}
	if leave := cmp.Or(v.Leave, v.Enter); leave < v.Enter || v.Enter == 0 && leave > 0 {
		faults.Add(fault.ErrRange, "Config.View.Leave", v.Leave)
	}
}

func (c Config) withDefaults(hz float64) Config {
	c.Every = cmp.Or(c.Every, 1)
	c.SlowTicks = cmp.Or(c.SlowTicks, defaultSlowTicks)
	c.Limits = c.Limits.withDefaults(hz)
	return c
}

// Column is a column that is sent.
type Column struct {
	// Name of a column of the World, such as "position.x" or "health". "position" and "scale" stand
	// for three columns each. "rotation" needs the codec Planar or Quat.
	Name string
	// Codec: nil is Exact.
	Codec Codec
	// To says to which clients.
	To Receiver
}

// Receiver is a set of clients.
type Receiver uint8

const (
	// Everyone that sees the entity.
	Everyone Receiver = iota
	// Owner of the entity: see Config.Owner.
	Owner
)

// ViewConfig says which entities a client sees. The zero value: all of them.
type ViewConfig struct {
	// Enter is the distance in metres at which an entity comes into view, and Leave that at which it
	// leaves, whatever messages arrive. Leave is not below Enter; 0 means Enter. Enter 0: there is no limit. An entity whose position
	// is not finite is nowhere near.
	Enter, Leave float32
	// Category names a column of uint32 with a set of 32 categories for each entity: a session sees an
	// entity if it is in one of those of Grant.Mask or Session.SetMask. Empty: there are no categories.
	Category string
	// Global is a tag of entities that all clients see, wherever they are. Empty: none.
	Global string
	// Weight names a column of float32 with the importance of each entity, for Config.Budget. In each
	// update an entity's priority grows by its weight, times a factor that falls from 1 at the centre of the
	// view to 1/5 at Leave, until it is sent. A negative weight and NaN count as 0. Empty: 1.
	Weight string
}

// SlowPolicy says what happens to a client whose connection does not take an update.
type SlowPolicy uint8

const (
	// Coalesce skips the update: the next one that the connection takes has the changes of both. A
	// connection that has refused 8 in a row is tried once in 8 updates.
	Coalesce SlowPolicy = iota
	// Disconnect ends the connection after Config.SlowTicks refused updates in a row.
	Disconnect
)

// Limits bound what clients may do. The zero value has defaults.
type Limits struct {
	// Sessions that exist at once, also those that wait for their client to come back. 0: 4096. If there are
	// as many, a new client takes the place of a session of the address that has most of them, as long as that address
	// then still has as many as its own: of one that waits or, if none does, one whose client has sent nothing since
	// its Hello. So one address cannot take all places. See Conn.
	Sessions int
	// FrameBytes is the largest message of a client. 0: 64 KiB.
	FrameBytes int
	// FramesPerSecond and BytesPerSecond of a session, with room for a burst of two seconds. A message beyond
	// them ends the connection with TooFast. A request for a Keyframe counts as many messages as an eighth of a
	// second allows. A client can resume its session eight times a second, in a count of its own.
	// 0: four messages and 4 KiB for each tick of the Sim, but at least 240 and 256 KiB.
	FramesPerSecond, BytesPerSecond int
	// Lead is the number of ticks that an input may be for in the future. 0: 240.
	Lead uint64
	// Resume is how long a session waits for its client after the connection was lost. 0: 30 s.
	// Negative: it ends at once.
	Resume time.Duration
}

// Grant is what Config.Authorize allows a client. The zero Grant is mode View, of entities in no category, from where the
// entities are that the session owns. A client that resumes its session has what the Grant of that Join says, not what an earlier one
// did, except for Data, which are for a new session.
type Grant struct {
	// Data of the input Config.Joined.
	Data []byte
	// Mask is the set of categories that the session sees, until Session.SetMask: see ViewConfig.Category. 0: none.
	Mask uint32
	// Free allows the client to look at any point. Otherwise it can only follow entities that the session owns. With
	// Config.Spectate it also allows to follow any entity of the categories that the session sees.
	Free bool
	// Simulate allows mode Simulate, which hides nothing: the client gets the whole Sim with its seed, and all inputs,
	// those of Config.Joined with the Data of other clients, too.
	Simulate bool
}
