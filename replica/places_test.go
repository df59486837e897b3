package replica

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/paritytest"
)

// modelPlace is what a plain list knows about a session.
type modelPlace struct {
	peer    *peer
	address string
	token   []byte
	speaks  bool // the client has sent a message after its Hello
	away    bool
}

// Clients of several addresses come, speak, go and come back. When all places are taken, a client of an address that has fewer gets
// one, if there is a session that waits or is silent at an address that has at least two more. Nobody else loses its place.
func TestPlacesAreShared(t *testing.T) {
	shared, refused, resumed := 0, 0, 0
	seed := paritytest.Seed()
	r := rand.New(rand.NewPCG(seed, 0))
	for run := range 150 {
		most := 1 + r.IntN(8)
		w := newWorld(t, 1, Config{Joined: 100, Left: 101, Limits: Limits{Sessions: most, Resume: time.Hour}}, evertick.InputConfig{})
		var list []*modelPlace
		count := func(address string) (n int) {
			for _, p := range list {
				if p.address == address {
					n++
				}
			}
			return n
		}
		for range 1 + r.IntN(60) {
			address := fmt.Sprint("a", max(0, r.IntN(7)-3))
			var p *modelPlace
			if len(list) > 0 {
				p = list[r.IntN(len(list))]
			}
			switch act := r.IntN(10); {
			case p == nil || act < 6:
				var victims []*modelPlace // the best of them
				for _, v := range list {
					if count(v.address) < count(address)+2 || v.speaks && !v.away {
						continue
					}
					rank := func(p *modelPlace) (n int) {
						if n = 2 * count(p.address); p.away {
							n++
						}
						return n
					}
					if len(victims) > 0 && rank(v) > rank(victims[0]) {
						victims = victims[:0]
					}
					if len(victims) == 0 || rank(v) == rank(victims[0]) {
						victims = append(victims, v)
					}
				}
				room := len(list) < most
				joined, err := w.joinBy(&recorder{address: address}, Hello{})
				if got, want := err == nil, room || len(victims) > 0; got != want {
					t.Fatalf("seed %d, run %d: %d of %d places are taken: joined %v, expected %v: %v", seed, run, len(list), most, got, want, err)
				}
				if err != nil {
					refused++
					if !errors.Is(err, TooMany) {
						t.Fatal(err)
					}
					break
				}
				if !room { // the one that was ended is one of those that may be
					shared++
					gone := 0
					for _, v := range victims {
						if w.byNumber[v.peer.ID()] != nil {
							continue
						}
						gone++
						if !v.away && (!errors.Is(v.peer.lastError(t), TooMany) || v.peer.conn.closed != 1) {
							t.Fatalf("seed %d, run %d: the connection of the session that was ended stays open", seed, run)
						}
						list = remove(list, v)
					}
					if gone != 1 {
						t.Fatalf("seed %d, run %d: %d sessions have ended", seed, run, gone)
					}
				}
				list = append(list, &modelPlace{peer: joined, address: address, token: joined.welcome.token})
			case act < 7 && !p.away:
				check(t, p.peer.input(uint64(1+r.IntN(1000)), 0, 1, ""))
				p.speaks = true
			case act < 8 && !p.away:
				p.peer.Disconnected()
				p.away = true
			case act < 9 && p.away:
				again, err := w.joinBy(&recorder{address: address}, Hello{Token: p.token})
				if errors.Is(err, TooFast) {
					break
				}
				check(t, err)
				resumed++
				p.peer, p.address, p.away, p.token = again, address, false, again.welcome.token
			case act == 9:
				p.peer.Close(Closing)
				list = remove(list, p)
			}
			w.clock.Add(1e9)
			places := 0
			for a, n := range w.places {
				if places += n; count(a) != n {
					t.Fatalf("seed %d, run %d: address %s has %d places, expected %d", seed, run, a, n, count(a))
				}
			}
			for _, p := range list {
				if w.byNumber[p.peer.ID()] == nil {
					t.Fatalf("seed %d, run %d: a session has lost its place", seed, run)
				}
			}
			if len(list) != len(w.sessions) || places != len(list) || int(w.connected.Load())+w.stats().Waiting != len(list) {
				t.Fatalf("seed %d, run %d: %d sessions and %d places, expected %d", seed, run, len(w.sessions), places, len(list))
			}
		}
	}
	if shared == 0 || refused == 0 || resumed == 0 {
		t.Errorf("%d places were shared, %d clients refused, %d resumed", shared, refused, resumed)
	}
}

// However many Hellos one address sends, and whether it stays or goes, a client of another address joins at once, and plays on.
func TestHellosOfOneAddressLockNobodyOut(t *testing.T) {
	for _, stay := range []bool{false, true} {
		w := newWorld(t, 1, Config{Limits: Limits{Sessions: 64}}, evertick.InputConfig{})
		player, err := w.joinBy(&recorder{address: "player"}, Hello{})
		check(t, err)
		for i := range 300 {
			if flood, err := w.joinBy(&recorder{address: "flood"}, Hello{}); err == nil && !stay {
				flood.Disconnected()
			}
			if i%10 == 0 {
				other, err := w.joinBy(&recorder{address: fmt.Sprint("other ", i)}, Hello{})
				check(t, err)
				check(t, other.input(1, 0, 1, ""))
			}
		}
		check(t, player.input(1, 0, 1, ""))
		w.step(1)
		expect(t, "sessions", w.stats().Connected+w.stats().Waiting, 64)
		expect(t, "inputs", len(w.took()), 31)
	}
}

func remove(list []*modelPlace, p *modelPlace) []*modelPlace {
	for i := range list {
		if list[i] == p {
			return append(list[:i:i], list[i+1:]...)
		}
	}
	return list
}
