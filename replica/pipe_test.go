package replica

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/fault"
)

// carry sends numbered messages both ways through a pipe, one a ms, and returns those that arrive.
func carry(t *testing.T, c PipeConfig, messages int) (client, server []uint32) {
	t.Helper()
	p, err := NewPipe(c)
	if err != nil {
		t.Fatal(err)
	}
	note := func(list *[]uint32) func([]byte) {
		return func(message []byte) { *list = append(*list, binary.LittleEndian.Uint32(message)) }
	}
	now := int64(0)
	for i := range messages {
		message := binary.LittleEndian.AppendUint32(nil, uint32(i))
		if !p.Send(message) || !p.ToServer(message) {
			t.Fatal("refused")
		}
		now += 1e6
		if !p.Deliver(now, note(&client), note(&server)) {
			t.Fatal("ended")
		}
	}
	p.Deliver(now+c.DelayNs+c.JitterNs, note(&client), note(&server))
	return client, server
}

func TestPipeOrdered(t *testing.T) {
	client, server := carry(t, PipeConfig{Ordered: true, Loss: 0.5, Duplicate: 0.5, Reorder: 0.5, DelayNs: 5e6, JitterNs: 9e6, Seed: 1}, 300)
	for i := range uint32(300) {
		if len(client) != 300 || len(server) != 300 || client[i] != i || server[i] != i {
			t.Fatalf("%d frames arrive, and %d", len(client), len(server))
		}
	}
}

func TestPipeLosesRepeatsAndReorders(t *testing.T) {
	const n = 4000
	for name, c := range map[string]PipeConfig{
		"nothing":   {},
		"loss":      {Loss: 0.25},
		"duplicate": {Duplicate: 0.25},
		"reorder":   {Reorder: 0.25, DelayNs: 5e6},
		"jitter":    {DelayNs: 1e6, JitterNs: 5e6},
	} {
		got, _ := carry(t, c, n)
		again, other := carry(t, c, n)
		if !slices.Equal(got, again) {
			t.Errorf("%s: other frames the second time", name)
		}
		if name != "nothing" && slices.Equal(got, other) {
			t.Errorf("%s: both directions have the same faults", name)
		}
		backward, distinct := 0, map[uint32]bool{}
		for i, v := range got {
			if distinct[v] = true; i > 0 && v < got[i-1] {
				backward++
			}
		}
		lost, twice := n-len(distinct), len(got)-len(distinct)
		for _, f := range []struct {
			fault string
			n     int
			want  bool
		}{{"lost", lost, c.Loss > 0}, {"twice", twice, c.Duplicate > 0}, {"out of order", backward, c.Reorder > 0 || c.JitterNs > 0}} {
			if f.n > 0 != f.want || f.want && (f.n < n/8 || f.n > n/2) {
				t.Errorf("%s: %d of %d frames %s", name, f.n, n, f.fault)
			}
		}
	}
}

// The queue of a pipe is bounded, but takes a message that is larger than its bound alone.
func TestPipeQueueBytes(t *testing.T) {
	p, err := NewPipe(PipeConfig{Ordered: true, QueueBytes: 100})
	if err != nil {
		t.Fatal(err)
	}
	arrived := 0
	drain := func() { p.Deliver(0, func(f []byte) { arrived += len(f) }, func([]byte) {}) }
	if !p.Send(make([]byte, 500)) || p.Send([]byte{1}) {
		t.Error("a large frame is not taken, or one more")
	}
	drain()
	p.Stall(true)
	if !p.Send(make([]byte, 60)) || !p.Send(make([]byte, 40)) || p.Send([]byte{1}) || !p.ToServer([]byte{1}) {
		t.Error("100 bytes are not taken, or 101")
	}
	if drain(); arrived != 500 {
		t.Errorf("%d bytes arrive at a client that does not read", arrived)
	}
	p.Stall(false)
	if drain(); arrived != 600 {
		t.Errorf("%d bytes arrive", arrived)
	}
}

func TestPipeEnds(t *testing.T) {
	for _, cut := range []bool{false, true} {
		p, err := NewPipe(PipeConfig{DelayNs: 5})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		deliver := func(now int64) bool {
			return p.Deliver(now, func(f []byte) { got += fmt.Sprintf("client %s, ", f) }, func(f []byte) { got += fmt.Sprintf("server %s, ", f) })
		}
		p.Send([]byte("a"))
		p.ToServer([]byte("b"))
		want, alive := "client a, server b, ", true
		if p.Close(); cut {
			p.Cut()
			want, alive = "", false
		}
		if p.Send([]byte("c")) || p.ToServer([]byte("d")) {
			t.Error("a pipe that has ended takes a frame")
		}
		if deliver(4) != alive || deliver(5) || got != want {
			t.Errorf("cut %t: %q", cut, got)
		}
	}
}

func TestPipeConfigValidate(t *testing.T) {
	nan := float32(0)
	nan /= nan
	for _, c := range []PipeConfig{{Loss: -0.1}, {Duplicate: 1.1}, {Reorder: nan}, {DelayNs: -1}, {JitterNs: 1 << 41}, {QueueBytes: -1}} {
		if _, err := NewPipe(c); !errors.Is(err, fault.ErrRange) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestPipeAllocs(t *testing.T) {
	p, err := NewPipe(PipeConfig{DelayNs: 3, Reorder: 0.1})
	if err != nil {
		t.Fatal(err)
	}
	now, message, take := int64(0), make([]byte, 300), func([]byte) {}
	step := func() {
		for range 20 {
			now++
			p.Send(message)
			p.ToServer(message)
			p.Deliver(now, take, take)
		}
	}
	step()
	if n := testing.AllocsPerRun(20, step); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
