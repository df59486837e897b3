package twin

import (
	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/replay"
)

// Config of a twin. Scenario is needed; the zero value of all else works.
type Config struct {
	// Scenario is the game. Its Name must be replica.Config.Scenario of the server.
	Scenario replay.Scenario
	// Name is the title. "": Scenario.Name.
	Name string
	// Seed of the Sim before there is a server, which says its own.
	Seed uint64
	// Alone returns the inputs of each tick of the Sim that the page runs alone, such as those of bots: see Sim.SetInputs. That Sim then
	// runs from the beginning. nil: it has no inputs, and is paused at tick 0 until the page lets it run.
	Alone evertick.Feed
	// URL that the page proposes, such as "wss://play.example.com/world". "": /world of the host of the page.
	URL string
	// Steer turns what the player does into an input. It is called each tick; an input is sent if kind or data differ
	// from those of the last one. Kind 0 sends nothing. data is copied. nil: the page does not play.
	Steer func(Pad) (kind uint32, data []byte)
	// Owner names the column with the session that owns an entity: the page follows the entity of its own. "": none.
	Owner string
	// Watch and Play are the Credentials of a session that only watches, and of one that plays. At most 4,096 bytes.
	Watch, Play []byte
}

// Pad is what a player does, with the keys W, A, S, D and Shift, the arrows, or a pointer or finger on the disc over the world.
type Pad struct {
	X, Y    float32 // where to: from -1 to 1 along the axes of the plane, at most 1 long
	Buttons uint32  // bit 0: Shift, or a second finger
}

// Validate returns every fault of the configuration.
func (c *Config) Validate() error {
	faults := fault.List{Package: "twin"}
	if c.Scenario.New == nil {
		faults.Add(fault.ErrRange, "Config.Scenario.New", nil)
	}
	faults.Range("Config.Watch: bytes", len(c.Watch), 0, mostCredentials)
	faults.Range("Config.Play: bytes", len(c.Play), 0, mostCredentials)
	return faults.Err()
}

// mostCredentials is the limit of a Hello.
const mostCredentials = 4096
