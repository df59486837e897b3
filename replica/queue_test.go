package replica

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/evertick/evertick/internal/paritytest"
	"pgregory.net/rapid"
)

// A queue does what a list of messages does.
func TestQueueModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.SampledFrom([]int{1, 4, 5, 100, 1000, 1024, 5000}).Draw(t, "limit")
		q := NewQueue(limit)
		var model [][]byte
		used, next, closed := 0, byte(0), false
		size := rapid.OneOf(rapid.IntRange(0, 20), rapid.IntRange(0, limit+50), rapid.SampledFrom([]int{limit - 5, limit - 4, limit - 3, 1020, 1021, 3000}))
		var buf []byte
		for range rapid.IntRange(0, 200).Draw(t, "steps") {
			switch op := rapid.IntRange(0, 99).Draw(t, "op"); {
			case op < 55:
				message := make([]byte, max(0, size.Draw(t, "size")))
				for i := range message {
					message[i] = next
					next++
				}
				want := !closed && (used == 0 || used+4+len(message) <= limit)
				if got := q.Put(message); got != want {
					t.Fatalf("Put of %d bytes with %d of %d used, closed %v: %v", len(message), used, limit, closed, got)
				}
				if want {
					model, used = append(model, message), used+4+len(message)
				}
			case op < 99:
				take := q.Take
				if len(model) > 0 || closed {
					take = rapid.SampledFrom([]func([]byte) ([]byte, bool){q.Take, q.Next}).Draw(t, "take")
				}
				var ok bool
				buf, ok = take(append(buf, 1, 2, 3))
				if ok != (len(model) > 0) {
					t.Fatalf("Take with %d frames: %v", len(model), ok)
				}
				if !ok {
					if len(buf) != 0 {
						t.Fatal("Take without a frame returned bytes")
					}
					break
				}
				if !bytes.Equal(buf, model[0]) {
					t.Fatalf("%d bytes, expected %d", len(buf), len(model[0]))
				}
				used -= 4 + len(model[0])
				model = model[1:]
			default:
				q.Close()
				closed = true
			}
			if q.used != used || (q.ring == nil) != (used == 0) {
				t.Fatalf("%d bytes used, expected %d; ring %v", q.used, used, q.ring != nil)
			}
			if q.ring != nil && len(q.ring.bytes) > max(leastRing, 2*limit, 2*used) {
				t.Fatalf("a ring of %d bytes for %d of %d", len(q.ring.bytes), used, limit)
			}
		}
	})
}

func TestQueueTakesALargeFrameAlone(t *testing.T) {
	q := NewQueue(0)
	large, small := make([]byte, 200_000), []byte("small")
	for _, step := range []struct {
		message []byte
		want    bool
	}{{small, true}, {large, false}, {small, true}} {
		if got := q.Put(step.message); got != step.want {
			t.Fatalf("%d bytes: %v", len(step.message), got)
		}
	}
	q.Take(nil)
	q.Take(nil)
	if !q.Put(large) || q.Put(small) || q.Put(nil) {
		t.Fatal("a large frame waits alone")
	}
	if got, ok := q.Take(nil); !ok || len(got) != len(large) {
		t.Fatal("the large frame is lost")
	}
	if !q.Put(nil) {
		t.Fatal("an empty queue refused an empty frame")
	}
	if got, ok := q.Take(small); !ok || len(got) != 0 {
		t.Fatal("an empty frame is a frame")
	}
	if !testing.Short() && q.Put(make([]byte, mostQueued)) { // memory that must be cleared
		t.Fatal("took a frame whose ring may be too large")
	}
}

func TestQueueWithGoroutines(t *testing.T) {
	const producers, each = 4, 3000
	q := NewQueue(1000)
	var wg sync.WaitGroup
	for p := range producers {
		wg.Go(func() {
			message := make([]byte, 200)
			for i := range each {
				message = message[:8+(i*37)%150]
				binary.LittleEndian.PutUint32(message, uint32(p))
				binary.LittleEndian.PutUint32(message[4:], uint32(i))
				for !q.Put(message) {
					runtime.Gosched()
				}
			}
		})
	}
	done := make(chan error, 1)
	go func() {
		var last [producers]uint32
		var buf []byte
		total := 0
		for ok := true; ; total++ {
			if buf, ok = q.Next(buf); !ok {
				break
			}
			p, i := binary.LittleEndian.Uint32(buf), binary.LittleEndian.Uint32(buf[4:])
			if i != last[p] || len(buf) != 8+int(i*37)%150 {
				done <- fmt.Errorf("frame %d of %d has %d bytes, expected frame %d", i, p, len(buf), last[p])
				return
			}
			last[p]++
		}
		if total != producers*each {
			done <- fmt.Errorf("%d frames of %d", total, producers*each)
		}
		close(done)
	}()
	wg.Wait()
	q.Close()
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(time.Minute):
		t.Fatal("Close did not wake the goroutine in Next")
	}
}

func TestQueueAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	q := NewQueue(0)
	message, buf := make([]byte, 20_000), make([]byte, 0, 100_000)
	if n := testing.AllocsPerRun(200, func() {
		for _, size := range []int{300, 20_000, 5000, 300} {
			if !q.Put(message[:size]) {
				t.Fatal("no room")
			}
		}
		for range 4 {
			buf, _ = q.Take(buf)
		}
		if !q.Put(message[:330]) {
			t.Fatal("no room")
		}
		buf, _ = q.Next(buf)
	}); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkQueue(b *testing.B) {
	q := NewQueue(0)
	message, buf := make([]byte, 330), make([]byte, 0, 400)
	b.ReportAllocs()
	for b.Loop() {
		q.Put(message)
		buf, _ = q.Take(buf)
	}
}
