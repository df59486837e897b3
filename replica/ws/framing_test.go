//go:build !js

package ws

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/evertick/evertick/internal/paritytest"
)

// However a stream is cut, each control frame and each further fragment counts once, as least bytes or its payload.
func TestCostOfFrames(t *testing.T) {
	seed := paritytest.Seed()
	r := rand.New(rand.NewPCG(seed, 0))
	counted := 0
	for range paritytest.Rounds(300) {
		var stream []byte
		want, least := 0, r.IntN(5000)
		for range r.IntN(30) {
			op := []byte{0x00, 0x01, 0x02, 0x08, 0x09, 0x0a}[r.IntN(6)]
			size := []int{0, r.IntN(126), 126 + r.IntN(1000), 65_536 + r.IntN(1000)}[min(r.IntN(30), 3)%4]
			frame := masked(op|byte(r.IntN(2)<<7), make([]byte, size))
			if stream = append(stream, frame...); op == 0 || op >= 8 {
				want += max(0, least-size)
				counted++
			}
		}
		want += len(stream)
		var f framing
		got, cut := 0, 1+r.IntN(40)
		for left := stream; len(left) > 0; {
			n := min(len(left), 1+r.IntN(cut*cut))
			got += f.cost(left[:n], least)
			left = left[n:]
		}
		if got != want {
			t.Fatalf("seed %d: %d bytes count as %d, expected %d", seed, len(stream), got, want)
		}
	}
	if counted == 0 {
		t.Error("no frame was counted")
	}
}

// What a client can make the server handle in a second is bounded, whatever it sends: frames that only package
// websocket sees, and calls of Read. What clients that behave do is far below.
func TestWhatAClientMaySend(t *testing.T) {
	message := func(n int) []byte { return masked(0x82, make([]byte, n)) }
	for _, test := range []struct {
		name   string
		rate   int // Config.BytesPerSecond
		frame  []byte
		frames int // a second
		reads  int // a second, which divides frames or is divided by it
		ends   bool
	}{
		{"pings", 0, masked(0x89, nil), 76_000, 1000, true},
		{"pongs of a few bytes", 0, masked(0x8a, []byte("pong")), 200, 200, true},
		{"empty fragments", 0, masked(0x00, nil), 300, 10, true},
		{"single bytes", 0, message(0), 600, 3600, true},
		{"messages", 0, message(1000), 900, 900, true},
		{"a slow limit", 1000, masked(0x89, nil), 200, 200, true},
		{"a ping and its pong each second", 0, masked(0x89, nil), 2, 2, false},
		{"a ping each second, a slow limit", 1000, masked(0x89, nil), 1, 1, false},
		{"inputs at 240 Hz", 0, message(40), 240, 240, false},
		{"inputs at 1,000 Hz", 0, message(40), 1000, 1000, false},
		{"all that the limit allows in fragments of 4 KiB", 0, masked(0x00, make([]byte, 4096)), 120, 120, false},
		{"messages of 64 KiB that arrive in packets", 0, message(60_000), 8, 8 * 42, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, _ := pipe(t, Config{BytesPerSecond: test.rate})
			now := time.Now()
			s.meter.last = now
			const seconds = 8
			ended := false
			for i := range max(test.frames, test.reads) * seconds {
				now = now.Add(time.Second / time.Duration(max(test.frames, test.reads)))
				parts := max(1, test.reads/test.frames)
				from, to := len(test.frame)*(i%parts)/parts, len(test.frame)*(i%parts+1)/parts
				data := test.frame[from:to]
				if n := test.frames / test.reads; n > 1 {
					if i%n > 0 {
						continue
					}
					data = nil
					for range n {
						data = append(data, test.frame...)
					}
				}
				if len(data) > 0 && !s.meter.take(s.cost(data), now) {
					ended = true
				}
			}
			if ended != test.ends {
				t.Errorf("the connection ends: %v, expected %v", ended, test.ends)
			}
		})
	}
}

// Bytes that come with the request count, and leave the frames after them in step.
func TestFramesWithTheRequest(t *testing.T) {
	h := newHost(t, &fake{}, Config{})
	c := h.dial()
	early := append(masked(0x89, []byte("early")), masked(0x82, []byte("hello"))...)
	request := fmt.Sprintf(upgrade, "x") + "\r\n"
	cut := len(early) - 3
	c.Write(append([]byte(request), early[:cut]...))
	c.Write(early[cut:])
	if r, err := http.ReadResponse(c.r, nil); err != nil || r.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(r, err)
	}
	if s := h.session(); s.hello != "hello" {
		t.Errorf("Hello %q", s.hello)
	}
	go func() {
		pings := masked(0x89, nil)
		for range 20_000 { // 120 KB, and more than two minutes of pings
			if _, err := c.Write(pings); err != nil {
				return
			}
		}
	}()
	if code := c.closed(); code != 1008 {
		t.Errorf("code %d, expected 1008", code)
	}
}
