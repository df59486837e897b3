package replica

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// clientCase is a case of testdata/client_cases.json.
type clientCase struct {
	Name     string
	Ordered  bool
	Reliable bool
	Steps    []clientStep
}

// clientStep is what the transport, the host or the server does, and what the client has done after it.
type clientStep struct {
	Do string

	Session             uint32 // of a Welcome; 0: 7
	Resumed             bool
	Token               string
	Received            uint64
	Tick, Base          uint64
	Applied             *uint64
	Times, Bytes        int // of inputs; 0 times: 1
	Full                bool
	Ms                  int64
	Sent, Arrived, Left uint64 // ms
	Code                Code

	Error   bool
	Sends   []string // if not nil
	Waiting *int
	State   *uint64
	Offset  []int64 // ms: offset and round trip
}

// said returns what a message of a client says, as the cases have it.
func said(t *testing.T, f []byte) string {
	t.Helper()
	switch f[0] {
	case kindHello:
		h, err := parseHello(f)
		check(t, err)
		return fmt.Sprintf("hello token=%s held=%d", h.Token, h.Held)
	case kindInput:
		list, err := parseIntents(nil, f)
		check(t, err)
		for i := range list {
			expect(t, "number of an input", list[i].seq, list[0].seq+uint64(i))
		}
		if len(list) == 1 {
			return fmt.Sprint("input ", list[0].seq)
		}
		return fmt.Sprintf("input %d..%d", list[0].seq, list[len(list)-1].seq)
	case kindAck, kindResync:
		tick, err := parseTick(f, f[0])
		check(t, err)
		return fmt.Sprint(map[byte]string{kindAck: "ack ", kindResync: "resync "}[f[0]], tick)
	case kindPing:
		t0, err := parsePing(f)
		check(t, err)
		return fmt.Sprint("ping ", t0/1e6)
	}
	return fmt.Sprint("kind ", f[0])
}

func (s *clientStep) do(b *bench) error {
	state := func(f []byte) []byte {
		if s.Applied == nil {
			return append(f, 0, 8)
		}
		return append(binary.AppendUvarint(append(f, flagApplied, 8), *s.Applied), 0)
	}
	switch s.Do {
	case "connect":
		return b.Connect()
	case "welcome":
		w := plainWelcome(Schema{})
		if w.session = s.Session; w.session == 0 {
			w.session = 7
		}
		if w.tick = s.Tick; w.tick == 0 {
			w.tick = 5
		}
		w.resumed, w.token, w.received = s.Resumed, []byte(s.Token), s.Received
		return b.Receive(w.append(nil))
	case "keyframe":
		return b.Receive(append(state(binary.AppendUvarint([]byte{kindKeyframe}, s.Tick)), 0))
	case "update":
		return b.Receive(append(state(binary.AppendUvarint(binary.AppendUvarint([]byte{kindUpdate}, s.Tick), s.Tick-s.Base)), 0, 0))
	case "input":
		for range max(1, s.Times) {
			if _, err := b.Input(1, make([]byte, s.Bytes), 0); err != nil {
				return err
			}
		}
	case "full":
		b.full = s.Full
	case "now":
		b.clock.Set(s.Ms * 1e6)
	case "ping":
		b.Ping() // an error without a session
	case "pong":
		return b.Receive(appendPong(nil, s.Sent*1e6, s.Arrived*1e6, s.Left*1e6))
	case "offset":
		var got []int64
		if offset, trip, ok := b.Offset(); ok {
			got = []int64{offset, trip}
		}
		for i := range got {
			got[i] /= 1e6
		}
		if !slices.Equal(got, s.Offset) {
			b.t.Errorf("offset %v", got)
		}
	case "error":
		if err := b.Receive(appendError(nil, s.Code, "")); codeOf(err, 0) != s.Code {
			b.t.Error(err)
		}
	default:
		b.t.Errorf("no such step")
	}
	return nil
}

// The clients in Go and in JavaScript follow the same rules: js/client_test.mjs runs the same cases.
func TestClientCases(t *testing.T) {
	text, err := os.ReadFile("testdata/client_cases.json")
	check(t, err)
	var cases []clientCase
	check(t, json.Unmarshal(text, &cases))
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			b := newBench(t, ClientConfig{Ordered: c.Ordered, Reliable: c.Reliable})
			for i, s := range c.Steps {
				b.sent = nil
				err := s.do(b)
				where := fmt.Sprintf("step %d, %s", i, s.Do)
				if (err != nil) != s.Error {
					t.Fatalf("%s: error %v", where, err)
				}
				var sent []string
				for _, f := range b.sent {
					sent = append(sent, said(t, f))
				}
				if s.Sends != nil && !slices.Equal(sent, s.Sends) {
					t.Fatalf("%s: the client sends %q, expected %q", where, sent, s.Sends)
				}
				if s.Waiting != nil {
					expect(t, where+": inputs that wait", b.Waiting(), *s.Waiting)
				}
				if s.State != nil {
					expect(t, where+": tick of the state", b.State().Tick(), *s.State)
				}
				if t.Failed() {
					t.Fatal(where)
				}
			}
		})
	}
}

// On a transport that loses messages, a Reliable client loses no input: when one is reported as applied, all before it have
// arrived. Without Reliable some have not, so the schedules meet the case.
func TestReliableInputs(t *testing.T) {
	lost := [2]int{}
	for seed := range uint64(40) {
		for i, reliable := range []bool{false, true} {
			lost[i] += lostInputs(t, seed, reliable)
		}
	}
	if lost[1] != 0 || lost[0] == 0 {
		t.Errorf("%d inputs were lost, without Reliable %d", lost[1], lost[0])
	}
}

// lostInputs runs a drawn schedule, and returns how many inputs never came.
func lostInputs(t *testing.T, seed uint64, reliable bool) (lost int) {
	r := rand.New(rand.NewPCG(seed, 1))
	b := newBench(t, ClientConfig{Reliable: reliable})
	arrived, newest, applied, tick := map[uint64]bool{}, uint64(0), uint64(0), uint64(0)
	do := func(s clientStep) error {
		b.sent = nil
		err := s.do(b)
		for _, f := range b.sent {
			if f[0] != kindInput || r.IntN(3) == 0 { // lost on the way
				continue
			}
			list, err := parseIntents(nil, f)
			check(t, err)
			for i := range list {
				arrived[list[i].seq] = true
				newest = max(newest, list[i].seq)
			}
		}
		return err
	}
	message := func() {
		tick++
		applied += uint64(r.Int64N(int64(newest-applied) + 1))
		check(t, do(clientStep{Do: "keyframe", Tick: tick, Applied: &applied}))
	}
	check(t, do(clientStep{Do: "connect"}))
	check(t, do(clientStep{Do: "welcome", Token: "a"}))
	sent := uint64(0)
	for range 300 {
		if r.IntN(3) == 0 {
			message()
		} else if do(clientStep{Do: "input", Bytes: r.IntN(2000)}) == nil {
			sent++
		}
	}
	for messages := 0; b.Waiting() > 0; messages++ {
		if message(); messages == 10_000 {
			t.Fatalf("seed %d: %d inputs still wait", seed, b.Waiting())
		}
	}
	for seq := uint64(1); seq <= sent; seq++ {
		if !arrived[seq] {
			lost++
		}
	}
	return lost
}
