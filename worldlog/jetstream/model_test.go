package jetstream

import (
	"errors"
	"math/rand/v2"
	"net"
	"slices"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/replay"
)

// Masters, followers and the server come and go in drawn order. The stream only ever grows, its ticks are those of the master of
// each term, all followers have its states, and of several masters one can ship.
func TestModel(t *testing.T) {
	cases := map[string]int{}
	for seed := range uint64(3) {
		newModel(t, seed, cases).run(60)
	}
	for _, what := range []string{"tick", "alone", "stop", "restart", "refused", "take over", "follow", "leave", "return", "set aside", "server", "duplicate", "stale"} {
		if cases[what] == 0 {
			t.Errorf("no case of %q in %v", what, cases)
		}
	}
	for i := range shortened(20, 1) {
		seed := paritytest.Seed() + uint64(i)
		t.Logf("seed %d", seed)
		newModel(t, seed, cases).run(40)
	}
}

type model struct {
	*rand.Rand
	t      *testing.T
	cases  map[string]int
	server *server.Server
	store  string
	port   int
	nc     *nats.Conn

	now       *master   // the last one that began a term; nil: it was stopped
	old       []*master // others, which still run
	logs      []string  // of masters that were stopped
	followers []*modelFollower
	left      []string // logs of followers that were closed
	shipped   []uint64 // state hashes that the stream was seen to have
	salt      uint64
}

type modelFollower struct {
	*Follower
	dir string
}

func newModel(t *testing.T, seed uint64, cases map[string]int) *model {
	t.Helper()
	m := &model{Rand: rand.New(rand.NewPCG(seed, 3)), t: t, cases: cases, store: t.TempDir()}
	m.server = startServer(t, m.store, server.RANDOM_PORT)
	m.port = m.server.Addr().(*net.TCPAddr).Port
	m.nc = connect(t, m.server.ClientURL())
	m.now = newMaster(t, t.TempDir(), replay.Options{SnapshotTicks: 40}).shipTo(t, m.nc, ShipConfig{})
	m.ticks()
	return m
}

func (m *model) run(steps int) {
	m.t.Helper()
	for range steps {
		ops := []func(){m.ticks, m.ticks, m.alone, m.alone, m.stop, m.restart, m.restart, m.takeOver, m.takeOver, m.takeOver,
			m.follow, m.follow, m.leave, m.again, m.again, m.again, m.forge, m.forge, m.restartServer}
		ops[m.IntN(len(ops))]()
		m.check()
	}
	for _, o := range m.old { // whatever it still tries, it is refused
		until(m.t, "a master of an older term ends", func() bool { return m.stepOld(o) != nil })
	}
	m.check()
	for _, f := range m.followers {
		f.Close()
	}
	if m.now != nil {
		m.now.ship.cancel()
		m.now.rec.Close()
	}
	for _, o := range m.old {
		o.rec.Close()
	}
	m.nc.Close()
	m.server.Shutdown()
	m.server.WaitForShutdown()
}

func (m *model) count(what string) { m.cases[what]++ }

func (m *model) ticks() {
	if m.now != nil {
		m.count("tick")
		drive(m.t, m.now.sim, 1+m.IntN(20), m.salt)
	}
}

// alone steps a master that has lost the stream.
func (m *model) alone() {
	if len(m.old) > 0 {
		m.count("alone")
		i := m.IntN(len(m.old))
		o := m.old[i]
		until(m.t, "it is refused", func() bool { return m.stepOld(o) != nil })
		if err := o.rec.Close(); err != nil {
			m.t.Fatal(err)
		}
		m.logs, m.old = append(m.logs, o.rec.Log().Dir()), slices.Delete(m.old, i, i+1)
	}
}

func (m *model) stepOld(o *master) error {
	m.t.Helper()
	o.sim.Push(inputOf(o.sim.Ticks(), 99)) // fails once a Step has, which left the input
	err := o.sim.Step()
	if err != nil && !errors.Is(err, ErrFenced) {
		m.t.Fatal(err)
	}
	return err
}

// stop ends the master, with or without shipping what it has.
func (m *model) stop() {
	if m.now == nil {
		return
	}
	m.count("stop")
	if m.IntN(2) == 0 {
		m.settle()
	}
	m.now.ship.cancel()
	<-m.now.ship.Done()
	if err := m.now.rec.Close(); err != nil {
		m.t.Fatal(err)
	}
	m.logs, m.now = append(m.logs, m.now.rec.Log().Dir()), nil
}

// restart starts a master from the log of one that was stopped, also while another one runs.
func (m *model) restart() {
	m.t.Helper()
	if len(m.logs) == 0 {
		return
	}
	m.count("restart")
	i := m.IntN(len(m.logs))
	rec, sim, _, err := replay.Resume(m.logs[i], field(), replay.Options{})
	if err != nil {
		m.t.Fatal(err)
	}
	ship, err := Ship(background(m.t), m.nc, rec, ShipConfig{})
	if err != nil {
		if !errors.Is(err, ErrFenced) {
			m.t.Fatal(err)
		}
		m.count("refused")
		rec.Close()
		return
	}
	if m.now != nil {
		m.t.Fatalf("a log of before has term %d", ship.Stats().Term)
	}
	m.logs = slices.Delete(m.logs, i, i+1)
	m.become(&master{sim: sim, rec: rec, ship: ship})
}

func (m *model) become(next *master) {
	if m.now != nil {
		m.old = append(m.old, m.now)
	}
	m.now = next
	m.salt++
}

func (m *model) takeOver() {
	m.t.Helper()
	if len(m.followers) == 0 || len(m.old) > 2 {
		return
	}
	m.count("take over")
	i := m.IntN(len(m.followers))
	rec, ship, err := m.followers[i].TakeOver(background(m.t), ShipConfig{})
	if err != nil {
		m.t.Fatal(err)
	}
	m.followers = slices.Delete(m.followers, i, i+1)
	m.become(&master{sim: rec.Sim(), rec: rec, ship: ship})
}

func (m *model) follow() {
	if len(m.followers) < 3 {
		m.count("follow")
		m.followIn(m.t.TempDir())
	}
}

func (m *model) followIn(dir string) {
	m.t.Helper()
	f, err := Follow(background(m.t), m.nc, field(), FollowConfig{Dir: dir})
	if errors.Is(err, ErrBranched) {
		m.count("set aside")
		f, err = Follow(background(m.t), m.nc, field(), FollowConfig{Dir: dir, SetAside: true})
	}
	if err != nil {
		m.t.Fatal(err)
	}
	m.followers = append(m.followers, &modelFollower{f, dir})
}

func (m *model) leave() {
	m.t.Helper()
	if len(m.followers) == 0 {
		return
	}
	m.count("leave")
	i := m.IntN(len(m.followers))
	if err := m.followers[i].Close(); err != nil {
		m.t.Fatal(err)
	}
	m.left = append(m.left, m.followers[i].dir)
	m.followers = slices.Delete(m.followers, i, i+1)
}

// again follows into the log of an earlier follower, or of a master that cannot come back.
func (m *model) again() {
	from := &m.left
	if m.now != nil && m.IntN(2) == 0 {
		from = &m.logs
	}
	if n := len(*from); n > 0 && len(m.followers) < 3 {
		m.count("return")
		i := m.IntN(n)
		dir := (*from)[i]
		*from = slices.Delete(*from, i, i+1)
		m.followIn(dir)
	}
}

func (m *model) restartServer() {
	m.count("server")
	m.server.Shutdown()
	m.server.WaitForShutdown()
	m.ticks()
	m.server = startServer(m.t, m.store, m.port)
	until(m.t, "the connection is back", m.nc.IsConnected)
}

// forge sends messages of before again: with their ids, and as those that an older master has under way.
func (m *model) forge() {
	m.t.Helper()
	m.settle()
	js, err := jetstream.New(m.nc)
	if err != nil {
		m.t.Fatal(err)
	}
	ctx := background(m.t)
	s, err := js.Stream(ctx, streamPrefix+"field")
	if err != nil {
		m.t.Fatal(err)
	}
	info, err := s.Info(ctx)
	if err != nil {
		m.t.Fatal(err)
	}
	seq := 1 + m.Uint64N(info.State.LastSeq)
	raw, err := s.GetMsg(ctx, seq)
	if err != nil {
		m.t.Fatal(err)
	}
	if m.IntN(2) == 0 {
		m.count("duplicate")
		ack, err := js.Publish(ctx, raw.Subject, raw.Data, jetstream.WithMsgID(raw.Header.Get(jetstream.MsgIDHeader)))
		if err != nil || !ack.Duplicate || ack.Sequence != seq {
			m.t.Fatalf("%+v, %v", ack, err)
		}
		return
	}
	m.count("stale")
	if ack, err := js.Publish(ctx, raw.Subject, raw.Data, jetstream.WithExpectLastSequence(seq-1)); err == nil {
		m.t.Fatalf("%+v", ack)
	}
}

// settle waits until the stream has all that the master has.
func (m *model) settle() {
	m.t.Helper()
	if m.now != nil {
		until(m.t, "all is shipped", func() bool {
			if err := m.now.ship.Err(); err != nil {
				m.t.Fatal(err)
			}
			return m.now.ship.Stats().Behind == 0
		})
	}
}

// check reads the whole stream, and lets all followers run it.
func (m *model) check() {
	m.t.Helper()
	m.settle()
	f, err := Follow(background(m.t), m.nc, field(), FollowConfig{Dir: m.t.TempDir()})
	if err != nil {
		m.t.Fatal(err)
	}
	defer f.Close()
	var got []uint64
	for end := f.Stats().Stream; uint64(len(got)) < end; {
		if err := f.Step(background(m.t)); err != nil {
			m.t.Fatal(err)
		}
		got = append(got, f.Sim().Hash())
	}
	if len(got) < len(m.shipped) || !slices.Equal(got[:len(m.shipped)], m.shipped) {
		m.t.Fatalf("the stream had %d ticks, and has %d, or others", len(m.shipped), len(got))
	}
	m.shipped = got
	if m.now != nil && !slices.Equal(hashes(m.t, m.now.rec.Log().Dir()), got) {
		m.t.Fatalf("the master has run %d ticks, the stream has %d, or others", m.now.sim.Ticks(), len(got))
	}
	for _, o := range m.old {
		if o.ship.Stats().Term >= m.now.termOr(o.ship.Stats().Term+1) {
			m.t.Fatalf("an older master has term %d", o.ship.Stats().Term)
		}
	}
	for _, f := range m.followers {
		reach(m.t, f.Follower, uint64(len(got)))
		if f.Sim().Ticks() != uint64(len(got)) || len(got) > 0 && f.Sim().Hash() != got[len(got)-1] {
			m.t.Fatalf("a follower has run %d ticks of %d, or others", f.Sim().Ticks(), len(got))
		}
	}
}

// termOr returns the term of a master, or another number if there is none.
func (m *master) termOr(none uint64) uint64 {
	if m == nil {
		return none
	}
	return m.ship.Stats().Term
}
