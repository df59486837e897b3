package replica

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/paritytest"
)

// followLog is what clients are sent, and what they make of it, for js/follow.mjs.
type followLog struct {
	out      bytes.Buffer
	json     *json.Encoder
	messages int
}

// followLine is the beginning of a connection, or a message.
type followLine struct {
	Client               int
	Ordered, Connect     bool
	Frame, Result, State string
}

func (f *followLog) connect(client int, ordered bool) {
	_ = f.json.Encode(followLine{Client: client, Ordered: ordered, Connect: true})
}

// message passes a message to a client, and writes both.
func (f *followLog) message(client int, c *Client, message []byte) error {
	var before, after ClientStats
	c.Stats(&before)
	live, text := c.live, hex.EncodeToString(message)
	err := c.Receive(message)
	c.Stats(&after)
	result := "ignored"
	switch {
	case errors.Is(err, fault.ErrCorrupt) || errors.Is(err, fault.ErrUnsupported):
		result = "refused"
	case after.Frames > before.Frames, !live && c.live, message[0] == kindError:
		result = "taken"
	}
	f.messages++
	_ = f.json.Encode(followLine{Client: client, Ordered: c.config.Ordered, Frame: text, Result: result, State: c.State().followed()})
	return err
}

// follow passes a message to the client and to the log. The client goes on with the connection after some of the messages that it
// has refused.
func (mc *modelClient) follow(message []byte) {
	if message[0] != kindWelcome && mc.IntN(8) == 0 {
		message[mc.IntN(len(message))] ^= 1 << mc.IntN(8)
	}
	if err := mc.log.message(slices.Index(mc.clients, mc), mc.client, message); err != nil && mc.IntN(2) == 0 {
		mc.connect()
	}
}

// welcomes passes a Welcome to some new clients, with a byte changed or cut off.
func (f *followLog) welcomes(m *model) {
	w := testWelcome(m.shape)
	w.token, w.scenario = []byte{1, 2, 3}, "park"
	for n := range 200 {
		message := w.append(nil)
		switch m.IntN(8) {
		case 0:
			message = message[:m.IntN(len(message))]
		case 1:
		default:
			message[m.IntN(len(message))] = byte(m.Uint32() >> m.IntN(8))
		}
		c, err := NewClient(ClientConfig{Clock: m.clock, Send: func([]byte) bool { return true }})
		m.must(err)
		if f.connect(1000+n, false); len(message) > 0 && message[0] == kindWelcome {
			_ = f.message(1000+n, c, message)
		}
	}
}

// followed is the text of a state in js/follow.mjs.
func (s *State) followed() string {
	if s.tick == 0 {
		return "none"
	}
	parts := []string{strconv.FormatUint(s.tick, 10), strconv.FormatUint(s.at, 10), spaced(s.slots), spaced(s.ids)}
	for _, lanes := range [][][]int32{s.lanes, s.owned} {
		for _, lane := range lanes {
			parts = append(parts, spaced(lane))
		}
	}
	var left []string
	for _, e := range s.left {
		left = append(left, fmt.Sprint(e.Slot, uint64(e.ID), e.Dead))
	}
	parts = append(parts, spaced(s.own), spaced(s.jumped), spaced(s.entered), strings.Join(left, ", "))
	return strings.Join(parts, "; ")
}

func spaced[T ~int32 | ~uint32 | ~uint64](list []T) string {
	b := make([]byte, 0, 8*len(list))
	for i, v := range list {
		if i > 0 {
			b = append(b, ' ')
		}
		if v < 0 {
			b = strconv.AppendInt(b, int64(v), 10)
		} else {
			b = strconv.AppendUint(b, uint64(v), 10)
		}
	}
	return string(b)
}

// The client in JavaScript takes, ignores and refuses the messages of a server that the client in Go does, among them
// some with a flipped bit, and has the same state after each of them. TestModel compares that state with the Sim.
func TestJavaScriptFollows(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("not run: the client in JavaScript: node is not installed")
	}
	runs, steps := casesOf(2, 16), casesOf(80, 400)
	refused := 0
	for i := range runs {
		m := newModel(t, paritytest.Seed()+uint64(i), 21*i+int(paritytest.Seed()%64), map[string]int{})
		f := new(followLog)
		f.json = json.NewEncoder(&f.out)
		m.log = f
		for n, mc := range m.clients {
			f.connect(n, mc.ordered)
		}
		for range steps {
			m.step()
		}
		f.welcomes(m)
		cmd := exec.Command(node, "js/follow.mjs")
		cmd.Stdin = &f.out
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("seed %d, run %d: %v\n%.3000s", paritytest.Seed(), i, err, out)
		}
		var got struct{ Frames, Taken, Refused int }
		if err := json.Unmarshal(out, &got); err != nil || got.Frames != f.messages || got.Taken < (f.messages-200)/4 {
			t.Errorf("seed %d, run %d: %d frames, %s %v", paritytest.Seed(), i, f.messages, out, err)
		}
		refused += got.Refused
	}
	if refused < runs {
		t.Errorf("%d frames were refused", refused)
	}
}
