package guide_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/replica"
	"github.com/evertick/evertick/worldlog"
)

const (
	arrive = 1 + iota
	depart
	stroll
)

// strolls is a game in which each player has an entity that its inputs move.
var strolls = replay.Scenario{Name: "strolls", New: func(seed uint64) (*evertick.Sim, error) {
	sim, err := evertick.New(evertick.Config{Capacity: 64, Seed: seed})
	if err != nil {
		return nil, err
	}
	owner, err := ecs.AddColumn[uint32](sim.World, "owner")
	if err != nil {
		return nil, err
	}
	return sim, sim.Add(evertick.BeforePhysics, "strolls", func(t *evertick.Tick) error {
		for _, in := range t.Inputs() {
			if in.Kind == arrive {
				_, slot, err := sim.World.SpawnSlot()
				if err != nil {
					return err
				}
				owner.Values()[slot] = in.Source
			}
			for slot := range sim.World.Query() {
				if in.Kind == stroll && owner.Values()[slot] == in.Source {
					sim.World.Position.X[slot]++
				}
			}
		}
		return nil
	})
}}

// guide:begin relay
// relay serves viewers of the log in dir until ctx is done. c is the configuration of the players' server.
func relay(ctx context.Context, dir string, game replay.Scenario, c replica.Config, serve func(*replica.Server)) error {
	player, err := replay.Play(dir, game, nil)
	if err != nil {
		return err
	}
	defer player.Close()
	c.Spectate = true
	viewers, err := replica.New(player.Sim(), c)
	if err != nil {
		return err
	}
	defer viewers.Close()
	serve(viewers) // as the server of the players: ws.NewHandler, and an http.Server
	for ctx.Err() == nil {
		err := player.Step() // also compares the hash with that of the master
		if err == io.EOF || errors.Is(err, worldlog.ErrTorn) {
			time.Sleep(2 * time.Millisecond) // the next tick is not there yet
			err = player.Refresh()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// guide:end

// guide:begin standby
// takeOver makes the Sim of a follower the one that runs, after the master has ended: its log goes on, and players resume.
func takeOver(f *replay.Follower, c replica.Config) (*replay.Recorder, *replica.Server, error) {
	rec, err := f.TakeOver()
	if err != nil {
		return nil, nil, err
	}
	players, err := replica.New(f.Sim(), c) // with the Secret of the master's
	return rec, players, err
}

// guide:end

// link connects a client to a Server in the same process.
type link struct {
	client  *replica.Client
	pipe    *replica.Pipe
	session *replica.Session
	now     int64
}

func (l *link) connect(s *replica.Server) {
	l.pipe, _ = replica.NewPipe(replica.PipeConfig{Ordered: true})
	l.session = nil
	must(l.client.Connect())
	l.deliver(s)
	l.deliver(s)
}

func (l *link) deliver(s *replica.Server) {
	l.now++
	l.pipe.Deliver(l.now, func(frame []byte) { must(l.client.Receive(frame)) }, func(frame []byte) {
		var err error
		if l.session == nil {
			l.session, err = s.Join(context.Background(), l.pipe, frame)
		} else {
			err = l.session.Receive(frame)
		}
		must(err)
	})
}

func newLink() *link {
	l := new(link)
	var err error
	l.client, err = replica.NewClient(replica.ClientConfig{Ordered: true, Send: func(frame []byte) bool { return l.pipe.ToServer(frame) }})
	must(err)
	return l
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func Example_relay() {
	dir, err := os.MkdirTemp("", "relay")
	must(err)
	defer os.RemoveAll(dir)
	config := replica.Config{
		Owner: "owner", Joined: arrive, Left: depart, Secret: []byte("the same on all servers"), Inline: true,
	}

	sim, err := strolls.New(1)
	must(err)
	rec, err := replay.Record(dir+"/master", strolls.Name, sim, replay.Options{})
	must(err)
	players, err := replica.New(sim, config)
	must(err)
	player := newLink()
	player.connect(players)
	for range 30 {
		_, err := player.client.Input(stroll, nil, 0)
		must(err)
		player.deliver(players)
		must(sim.Step())
		player.deliver(players)
	}
	must(rec.Log().Sync())

	// A viewer at a relay.
	ctx, stop := context.WithCancel(context.Background())
	viewer := newLink()
	must(relay(ctx, dir+"/master", strolls, config, func(s *replica.Server) {
		viewer.connect(s)
		go func() {
			defer stop()
			for viewer.client.State().Tick() < 30 {
				viewer.deliver(s)
				time.Sleep(time.Millisecond)
			}
		}()
	}))
	_, err = viewer.client.Input(stroll, nil, 0)
	fmt.Println("the viewer has tick", viewer.client.State().Tick(), "and inputs of it are unsupported:", errors.Is(err, evertick.ErrUnsupported))

	// A follower takes over after tick 25: the others are lost with the master.
	log, err := worldlog.OpenReader(dir+"/master", nil)
	must(err)
	follower, err := replay.NewFollower(strolls, log.Identity(), replay.FollowerOptions{Dir: dir + "/next"})
	must(err)
	for range 25 {
		t, err := log.Next()
		must(err)
		must(follower.Apply(t))
	}
	must(errors.Join(log.Close(), players.Close(), rec.Close()))
	rec, players, err = takeOver(follower, config)
	must(err)
	player.connect(players)
	must(follower.Sim().Step())
	player.deliver(players)
	w, _ := player.client.Welcome()
	fmt.Printf("the player has tick %d, resumed: %t, and owns %d entity\n", player.client.State().Tick(), w.Resumed, len(player.client.State().Own()))
	must(errors.Join(players.Close(), rec.Close()))
	// Output:
	// the viewer has tick 30 and inputs of it are unsupported: true
	// the player has tick 26, resumed: true, and owns 1 entity
}
