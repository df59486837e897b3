package replica

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/loop"
)

// The error of the estimate is at most half the round trip that is given with it: always while no clock jumps, and after a jump of any size
// once two Pings that were sent after it are answered. As long as nothing jumps, and all Pings take as long, that is their round trip.
func TestOffsetAfterJumps(t *testing.T) {
	seed := paritytest.Seed()
	r := rand.New(rand.NewPCG(seed, 0))
	for run := range 300 {
		b := newBench(t, ClientConfig{Ordered: true})
		b.join(plainWelcome(Schema{}))
		offset := r.Int64N(1e12) // the server's clock less that of the client
		b.clock.Set(r.Int64N(1e12) + 1e11)
		least, jitter := 1+r.Int64N(100e6), []int64{1, r.Int64N(1e6) + 1, r.Int64N(200e6) + 1}[r.IntN(3)]
		sinceJump, jumps := 2, 0
		for step := range 80 {
			jump := int64(0)
			if r.IntN(12) == 0 {
				jump = int64(math.Exp(r.Float64()*math.Log(1e10))) * int64(2*r.IntN(2)-1)
				sinceJump = 0
				jumps++
			}
			within := r.IntN(2) == 0 // the jump comes while a Ping is on its way
			if !within {
				offset += jump
			}
			sent := b.clock.Now()
			b.must(b.Ping())
			t0, err := parsePing(b.take(kindPing)[0])
			b.must(err)
			out, back, inside := least/2+r.Int64N(jitter), least/2+r.Int64N(jitter), r.Int64N(1e6)
			arrived := max(0, sent+offset+out)
			if within {
				offset += jump
			}
			b.clock.Add(out + inside + back)
			b.must(b.Receive(appendPong(nil, t0, uint64(arrived), uint64(arrived+inside))))
			if !within || jump == 0 {
				sinceJump++
			}
			got, trip, ok := b.Offset()
			if d := max(got-offset, offset-got); !ok || sinceJump >= 2 && d > trip/2+2 {
				t.Fatalf("seed %d, run %d, step %d, %d answers after a jump: the offset is wrong by %d ns, and the round trip %d", seed, run, step, sinceJump, d, trip)
			}
			if jitter == 1 && jumps == 0 && trip > least+10 {
				t.Fatalf("seed %d, run %d: the round trip of %d ns is given as %d", seed, run, least, trip)
			}
			b.clock.Add(1e9)
		}
	}
}

// After a clock has stood still or jumped, a client that pings once a second aims at the right ticks again within three seconds, and its inputs are
// applied in the ticks that they are for.
func TestInputsAfterAClockHasJumped(t *testing.T) {
	seed := paritytest.Seed()
	r := rand.New(rand.NewPCG(seed, 0))
	runs := 6
	if !full() {
		runs = 2
	}
	cases := [][2]int64{{-3000, 0}, {3000, 0}, {0, -8000}, {0, 8000}}
	for range runs {
		cases = append(cases, [2]int64{r.Int64N(20_000) - 10_000, 0}, [2]int64{0, r.Int64N(20_000) - 10_000})
	}
	for _, ms := range cases {
		const ns = 1_000_000_000 / 60
		serverClock, clientClock := new(loop.ManualClock), new(loop.ManualClock)
		applied := map[uint64]uint64{}
		sim, err := evertick.New(evertick.Config{Clock: serverClock})
		check(t, err)
		check(t, sim.Add(evertick.BeforePhysics, "in", func(tick *evertick.Tick) error {
			for _, in := range tick.Inputs() {
				applied[in.Seq] = tick.N
			}
			return nil
		}))
		server, err := New(sim, Config{Inline: true})
		check(t, err)
		pipe, err := NewPipe(PipeConfig{Ordered: true, DelayNs: 20e6, JitterNs: 2e6, Seed: r.Uint64()})
		check(t, err)
		client, err := NewClient(ClientConfig{Send: pipe.ToServer, Ordered: true, Clock: clientClock})
		check(t, err)
		var session *Session
		toServer := func(message []byte) {
			if session == nil {
				session, err = server.Join(context.Background(), pipe, message)
				check(t, err)
			} else {
				check(t, session.Receive(message))
			}
		}
		check(t, client.Connect())
		now, ticks := int64(0), 0
		step := func(serverRuns, clientRuns bool) { // one of them may stand still, with its clock
			for range 4 {
				now += ns / 4
				if serverRuns {
					serverClock.Add(ns / 4)
				}
				if clientRuns {
					clientClock.Add(ns / 4)
				}
				if serverRuns && clientRuns {
					pipe.Deliver(now, func(message []byte) { check(t, client.Receive(message)) }, toServer)
				}
			}
			if serverRuns {
				check(t, sim.Step())
			}
			if ticks++; client.live && clientRuns && ticks%60 == 0 {
				check(t, client.Ping())
			}
		}
		wrong, sent, late := 0, 0, 0
		const before, settle, after = 5 * 60, 3 * 60, 5 * 60
		aims := map[uint64]uint64{}
		for message := range before + settle + after {
			if message == before {
				clientClock.Add(max(ms[0], 0) * 1e6)
				serverClock.Add(max(ms[1], 0) * 1e6)
				for range -min(ms[0], 0) * 60 / 1000 {
					step(true, false)
				}
				for range -min(ms[1], 0) * 60 / 1000 {
					step(false, true)
				}
			}
			step(true, true)
			if !client.live {
				continue
			}
			tick, _ := client.Aim()
			seq, err := client.Input(1, nil, tick)
			if message < before+settle {
				continue
			}
			check(t, err)
			aims[seq] = tick
			if d := int64(tick) - int64(sim.Ticks()); d < 0 || d > 6 {
				wrong++
			}
		}
		for range 30 {
			step(true, true)
		}
		for seq, tick := range aims {
			if sent++; applied[seq] != tick {
				late++
			}
		}
		if wrong > 0 || late > sent/20 {
			t.Errorf("seed %d, the clock of the client moves by %d ms, that of the server by %d ms: %d of %d ticks are wrong, %d inputs were not applied in theirs",
				seed, ms[0], ms[1], wrong, sent, late)
		}
		check(t, server.Close())
	}
}
