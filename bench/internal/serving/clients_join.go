package serving

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/evertick/evertick/bench/internal/command"
	"github.com/evertick/evertick/loop"
)

// joinCommand is the first argument of the process that holds all clients. It is not for users.
const joinCommand = "join-clients"

// The two processes exchange JSON. The server's writes a joinPlan, and that of the clients answers with a
// joinReady when all are in. The server's writes a joinWindow, and ends the input when the clients have had
// time to receive the last tick of it. Then the clients' process writes a joinResult.
type joinPlan struct {
	Addr    string
	Clients int
	Slow    int // of the clients: the ones with the highest indices
	Decode  int // of the others: the ones with the lowest indices
	Hz      int
	Lead    bool
	Seed    uint64
	Began   int64 // sharedTime at which the server began
	Watch   bool  // they send no inputs
}

type joinReady struct{ Clients int }

// joinWindow is what is measured: updates whose tick is above From, up to To.
type joinWindow struct{ From, To uint64 }

type joinResult struct {
	Fast, Slow joinFigures
	Total      command.Quantiles // A acts to B sees
	Totals     uint64            // number of acts that were seen

	// Of the clients that decode.
	Entities uint64 // in all their updates
	Updates  uint64
	Bytes    uint64 // of these updates
}

// joinFigures are what some of the clients have counted.
type joinFigures struct {
	Clients           int
	Frames, Keyframes uint64
	Bytes             uint64
	Receipt           command.Quantiles // end of tick to receipt
	Applied           command.Quantiles // arrival of an input to the start of the tick that applied it
}

const (
	slowBytes = 256 // that a slow client reads in slowPause: 1 kB/s
	slowPause = 250 * time.Millisecond

	joinAtOnce = 16 // clients that connect at the same time
)

// runJoin is the process of the clients.
func runJoin(stdin io.Reader, stdout io.Writer) error {
	lines, answer := json.NewDecoder(bufio.NewReader(stdin)), json.NewEncoder(stdout)
	j := new(joiner)
	if err := lines.Decode(&j.plan); err != nil {
		return err
	}
	defer j.close()
	if err := j.connect(); err != nil {
		return err
	}
	if err := answer.Encode(joinReady{len(j.members)}); err != nil {
		return err
	}
	var w joinWindow
	if err := lines.Decode(&w); err != nil {
		return err
	}
	j.window.Store(&w)
	if err := lines.Decode(&w); !errors.Is(err, io.EOF) {
		return fmt.Errorf("after the window: %v", err)
	}
	r, err := j.result()
	if err != nil {
		return err
	}
	return answer.Encode(r)
}

// joiner is all clients.
type joiner struct {
	plan    joinPlan
	members []*member
	window  atomic.Pointer[joinWindow] // nil: nothing counts yet
	newest  atomic.Uint64              // tick of an update that a client at full speed has just received
	quit    atomic.Bool

	mu  sync.Mutex
	err error // the first
}

// connect connects all clients and starts the goroutine that sends their inputs. It returns when all that read
// at full speed have their first view.
func (j *joiner) connect() error {
	j.members = make([]*member, j.plan.Clients)
	for i := range j.members {
		j.members[i] = newMember(j, i)
	}
	// In an order that mixes slow ones with others, as the server serves them in the order of their sessions.
	order := rand.New(rand.NewPCG(j.plan.Seed, 0)).Perm(len(j.members))
	next := make(chan int, len(order))
	for _, i := range order {
		next <- i
	}
	close(next)
	var all sync.WaitGroup
	for range joinAtOnce {
		all.Go(func() {
			for i := range next {
				if err := j.members[i].join(); err != nil {
					j.fail(i, err)
				}
			}
		})
	}
	all.Wait()
	if err := j.failed(); err != nil {
		return err
	}
	if j.plan.Watch {
		return nil
	}
	go j.sendInputs()
	for _, m := range j.members {
		if m.aims() {
			go j.sendAimed(m)
		}
	}
	return nil
}

// fail keeps the first error of a client.
func (j *joiner) fail(client int, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil && !j.quit.Load() {
		j.err = fmt.Errorf("client %d: %w", client, err)
	}
}

func (j *joiner) failed() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.err
}

func (j *joiner) close() {
	j.quit.Store(true)
	for _, m := range j.members {
		if m.conn != nil {
			m.conn.Close() // nothing depends on it
		}
	}
}

// sendInputs sends an input for each client about every second tick. The interval is no multiple of a tick, and the clients
// take turns in it, so that the inputs arrive at all times between two ticks.
func (j *joiner) sendInputs() {
	interval := 2.0274 * float64(time.Second) / float64(j.plan.Hz)
	start := time.Now()
	for n := 0; !j.quit.Load(); n++ {
		due := time.Duration(float64(n) * interval / float64(len(j.members)))
		if wait := due - time.Since(start); wait > 0 {
			time.Sleep(wait)
		}
		m := j.members[n%len(j.members)]
		if m.aims() {
			continue
		}
		if err := m.act(n/len(j.members), 0); err != nil {
			j.fail(m.index, err)
			return
		}
	}
}

// sendAimed sends an input of a client for every second tick, as late as its lead allows.
func (j *joiner) sendAimed(m *member) {
	for n := 0; !j.quit.Load(); n++ {
		tick, wait, err := m.aim(n)
		if err == nil {
			time.Sleep(wait)
			err = m.act(n, tick)
		}
		if err != nil {
			j.fail(m.index, err)
			return
		}
		time.Sleep(time.Second / time.Duration(j.plan.Hz))
	}
}

// result adds up what the clients have counted.
func (j *joiner) result() (r joinResult, err error) {
	var total loop.Histogram
	var receipt, applied [2]loop.Histogram
	for _, m := range j.members {
		m.mu.Lock()
		f, k := &r.Fast, 0
		if m.slow {
			f, k = &r.Slow, 1
		}
		f.Clients++
		f.Frames += m.messages
		f.Keyframes += m.keyframes
		f.Bytes += m.bytes
		receipt[k].Merge(&m.receipt)
		applied[k].Merge(&m.applied)
		if d := m.decoder; d != nil {
			total.Merge(&d.total)
			r.Entities += d.entities
			r.Updates += m.messages
			r.Bytes += m.bytes
		}
		m.mu.Unlock()
	}
	r.Fast.Receipt, r.Slow.Receipt = quantilesIn(&receipt[0]), quantilesIn(&receipt[1])
	r.Fast.Applied, r.Slow.Applied = quantilesIn(&applied[0]), quantilesIn(&applied[1])
	r.Total, r.Totals = quantilesIn(&total), total.Count()
	return r, j.failed()
}

func quantilesIn(h *loop.Histogram) command.Quantiles {
	return command.Quantiles{P50: h.Quantile(0.50), P95: h.Quantile(0.95), P99: h.Quantile(0.99), Max: h.Max()}
}

// dial connects a client.
func (j *joiner) dial(slow bool) (*net.TCPConn, error) {
	var d net.Dialer
	if slow {
		d.Control = narrow
	}
	conn, err := d.Dial("tcp", j.plan.Addr)
	if err != nil {
		return nil, err
	}
	return conn.(*net.TCPConn), nil
}
