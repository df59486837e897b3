package natswork

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/replay/search"
	"github.com/evertick/evertick/replay/search/internal/searchtest"
	"github.com/nats-io/nats.go"
)

// answers are the results of one search of each kind.
type answers struct {
	Seeds  []search.Found
	Shrunk replay.ShrinkReport
	Log    map[string]string
	Scores []float64
}

func ask(t *testing.T, p search.Pool, log string) (a answers) {
	t.Helper()
	for found, err := range search.FindSeeds(t.Context(), p, search.Seeds{Scenario: "tally", Failure: "rare", From: 11, To: 51, Ticks: 200}) {
		if err != nil {
			t.Fatal(err)
		}
		a.Seeds = append(a.Seeds, found)
	}
	dir := t.TempDir()
	var err error
	if a.Shrunk, err = search.Shrink(t.Context(), p, log, searchtest.Tally("tally"), dir, "both", replay.ShrinkOptions{}); err != nil {
		t.Fatal(err)
	}
	a.Log = map[string]string{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		a.Log[e.Name()] = string(data)
	}
	sets := [][]float32{{0, 0}, {0.3, -0.2}, {-1, 1}}
	var matches []search.Match
	for i := range 6 {
		matches = append(matches, search.Match{Seed: 3, World: uint64(2 * i), Worlds: 2, Players: []int{i % 3, (i + 1) % 3}})
	}
	if a.Scores, err = search.Evaluate(t.Context(), p, "tag", sets, matches); err != nil {
		t.Fatal(err)
	}
	return a
}

func wanted(t *testing.T, log string) answers {
	t.Helper()
	want := ask(t, search.Local{Registry: searchtest.Registry(), Workers: 1}, log)
	if len(want.Seeds) < 2 || want.Shrunk.Inputs != 2 || len(want.Scores) != 3 {
		t.Fatalf("%+v", want)
	}
	return want
}

// Processes return what one goroutine returns, whether they are 1, 2 or 5.
func TestProcesses(t *testing.T) {
	url, log := start(t, 0), searchtest.Record(t)
	want := wanted(t, log)
	p := newPool(t, connect(t, url))
	workers := 0
	for _, n := range []int{1, 2, 5} {
		for ; workers < n; workers++ {
			process(t, url, 0)
		}
		if got := ask(t, p, log); !reflect.DeepEqual(got, want) {
			t.Errorf("%d processes: %+v, want %+v", n, got, want)
		}
		if got := ask(t, search.Twice(p), log); !reflect.DeepEqual(got, want) {
			t.Errorf("%d processes, twice: %+v, want %+v", n, got, want)
		}
	}
}

// Workers are killed at random moments, and others take their place: the results are the same.
func TestKill(t *testing.T) {
	kills := 100
	if testing.Short() {
		kills = 5
	}
	url, log := start(t, 0), searchtest.Record(t)
	want := wanted(t, log)
	p, err := NewPool(connect(t, url), PoolOptions{Silence: 500 * time.Millisecond, Jobs: 16})
	if err != nil {
		t.Fatal(err)
	}
	workers := []*exec.Cmd{process(t, url, 0), process(t, url, 0), process(t, url, 0)}
	killed := make(chan struct{})
	go func() {
		defer close(killed)
		for i := range kills {
			r := loop.NewRand(paritytest.Seed(), uint64(i), 0, 0)
			time.Sleep(time.Duration(r.IntRange(1, 200)) * time.Millisecond)
			k := r.IntN(len(workers))
			kill(workers[k])
			workers[k] = process(t, url, 0)
		}
	}()
	rounds := 0
	for over := false; !over; rounds++ {
		select {
		case <-killed:
			over = true // once more, to the end
		default:
		}
		if got := ask(t, p, log); !reflect.DeepEqual(got, want) {
			t.Fatalf("round %d: %+v, want %+v", rounds, got, want)
		}
	}
	t.Logf("%d kills in %d rounds: %+v", kills, rounds, p.Stats())
	if !testing.Short() && p.Stats().Resent == 0 {
		t.Error("no kill has hit a job")
	}
}

// numbered returns jobs that contain their number.
func numbered(n int) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := 0; i < n && yield(binary.AppendUvarint(nil, uint64(i))); i++ {
		}
	}
}

func collect(results iter.Seq2[[]byte, error]) (all []string, err error) {
	for r, err := range results {
		if err != nil {
			return all, err
		}
		all = append(all, string(r))
	}
	return all, nil
}

// custom returns a registry with one function, "custom".
func custom(do func(ctx context.Context, shared []byte, n uint64) ([]byte, error)) *search.Registry {
	return &search.Registry{Functions: map[string]search.Function{"custom": func(shared []byte) (search.Work, error) {
		return func(ctx context.Context, job []byte) ([]byte, error) {
			n, _ := binary.Uvarint(job)
			return do(ctx, shared, n)
		}, nil
	}}}
}

func echo(_ context.Context, _ []byte, n uint64) ([]byte, error) { return fmt.Append(nil, n), nil }

var task = search.Task{Function: "custom"}

// A worker of another SimVersion gets no work, though it is the only one; and none besides one that has the version.
func TestOtherVersion(t *testing.T) {
	url := start(t, 0)
	var done atomic.Int64
	other := custom(func(ctx context.Context, _ []byte, n uint64) ([]byte, error) {
		done.Add(1)
		return nil, nil
	})
	serve(t, url, other, ServeOptions{simVersion: evertick.SimVersion + 1})
	nc := connect(t, url)
	p, err := NewPool(nc, PoolOptions{NoWorker: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := collect(p.Do(t.Context(), task, numbered(5))); !errors.Is(err, ErrNoWorker) || !strings.Contains(err.Error(), fmt.Sprint(evertick.SimVersion)) {
		t.Error(err)
	}
	serve(t, url, custom(echo), ServeOptions{})
	if got, err := collect(newPool(t, nc).Do(t.Context(), task, numbered(50))); err != nil || len(got) != 50 || got[49] != "49" {
		t.Error(got, err)
	}
	// A request that comes to it in spite of that is refused by the version.
	m := message{kind: request, function: "custom", simVersion: evertick.SimVersion + 7, task: taskID("custom", evertick.SimVersion+7, nil)}
	if text := refusal(t, nc, evertick.SimVersion+1, m); !strings.Contains(text, fmt.Sprint(evertick.SimVersion+7)) {
		t.Error(text)
	}
	if done.Load() != 0 {
		t.Errorf("%d jobs done by the other version", done.Load())
	}
}

// refusal sends a request to the workers of a version and returns what they refuse it with.
func refusal(t *testing.T, nc *nats.Conn, simVersion uint32, m message) string {
	t.Helper()
	inbox := nc.NewInbox()
	sub, err := nc.SubscribeSync(inbox)
	if err != nil {
		t.Fatal(err)
	}
	for nobody := true; ; {
		if nobody { // at first, since no worker has subscribed yet
			time.Sleep(10 * time.Millisecond)
			if err := nc.PublishRequest(subjectOf(DefaultSubject, simVersion), inbox, m.encode()); err != nil {
				t.Fatal(err)
			}
		}
		msg, err := sub.NextMsg(time.Minute)
		if errors.Is(err, nats.ErrNoResponders) {
			nobody = true
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if nobody = len(msg.Data) == 0; nobody {
			continue
		}
		r, err := decode(msg.Data)
		if err != nil || r.kind != alive && r.kind != refused {
			t.Fatalf("%+v, %v", r, err)
		}
		if r.kind == refused {
			return string(r.body)
		}
	}
}

// What a worker lacks is refused with the name of both, and a job that fails or panics has its error.
func TestRefused(t *testing.T) {
	url := start(t, 0)
	reg := custom(func(_ context.Context, _ []byte, n uint64) ([]byte, error) {
		if n == 7 {
			panic("seven")
		}
		return echo(t.Context(), nil, n)
	})
	serve(t, url, reg, ServeOptions{Name: "the worker"})
	p := newPool(t, connect(t, url))
	_, err := search.FirstSeed(t.Context(), p, search.Seeds{Scenario: "no-scenario", Failure: "rare", To: 9, Ticks: 9})
	if !errors.Is(err, evertick.ErrUnsupported) || !strings.Contains(err.Error(), "no-scenario") || !strings.Contains(err.Error(), "the worker") {
		t.Error(err)
	}
	if _, err := collect(p.Do(t.Context(), search.Task{Function: "no-function"}, numbered(3))); !errors.Is(err, evertick.ErrUnsupported) || !strings.Contains(err.Error(), "no-function") {
		t.Error(err)
	}
	want, wantErr := collect(search.Local{Registry: reg}.Do(t.Context(), task, numbered(20)))
	got, err := collect(p.Do(t.Context(), task, numbered(20)))
	var failed *search.JobError
	if !errors.As(err, &failed) || failed.Job != 7 || err.Error() != wantErr.Error() || !slices.Equal(got, want) {
		t.Errorf("%v, %v; want %v, %v", got, err, want, wantErr)
	}
}

// A worker never does more jobs at a time than its option says.
func TestInFlight(t *testing.T) {
	url := start(t, 0)
	var running, most atomic.Int64
	reg := custom(func(_ context.Context, _ []byte, n uint64) ([]byte, error) {
		now := running.Add(1)
		defer running.Add(-1)
		for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
		}
		time.Sleep(time.Millisecond)
		return echo(t.Context(), nil, n)
	})
	serve(t, url, reg, ServeOptions{Jobs: 3})
	p := newPool(t, connect(t, url))
	got, err := collect(p.Do(t.Context(), task, numbered(300)))
	if err != nil || len(got) != 300 || most.Load() != 3 {
		t.Errorf("%d results, %v, %d at a time", len(got), err, most.Load())
	}
	t.Logf("%+v", p.Stats())
}

// Shared data that are far larger than a message come to each worker once, for all of its slots and several calls.
func TestShared(t *testing.T) {
	url := start(t, 64<<10)
	reg := custom(func(_ context.Context, shared []byte, n uint64) ([]byte, error) {
		sum := sha256.Sum256(binary.AppendUvarint(slices.Clone(shared), n))
		time.Sleep(2 * time.Millisecond) // so that every slot gets jobs
		return sum[:], nil
	})
	const workers = 2
	for range workers {
		serve(t, url, reg, ServeOptions{Jobs: 3})
	}
	big := task
	big.Shared = make([]byte, 3<<20+5)
	for i := range big.Shared {
		big.Shared[i] = byte(i * i >> 7)
	}
	p := newPool(t, connect(t, url))
	want, _ := collect(search.Local{Registry: reg}.Do(t.Context(), big, numbered(60)))
	for range 3 {
		if got, err := collect(p.Do(t.Context(), big, numbered(60))); err != nil || !slices.Equal(got, want) {
			t.Fatal(len(got), err)
		}
	}
	once := (len(big.Shared) + 32<<10 - 1) / (32 << 10)
	if n := int(p.Stats().Chunks); n < once || n > workers*once {
		t.Errorf("%d chunks, want %d for each of %d workers", n, once, workers)
	}
	// What cannot fit is refused: a job, a result, shared data.
	if _, err := collect(p.Do(t.Context(), task, slices.Values([][]byte{make([]byte, 65<<10)}))); err == nil || !strings.Contains(err.Error(), "bytes of a job") {
		t.Error(err)
	}
	large := start(t, 64<<10)
	serve(t, large, custom(func(context.Context, []byte, uint64) ([]byte, error) { return make([]byte, 64<<10), nil }), ServeOptions{MaxShared: 1 << 20})
	p = newPool(t, connect(t, large))
	if _, err := collect(p.Do(t.Context(), task, numbered(1))); err == nil || !strings.Contains(err.Error(), "bytes of a result") {
		t.Error(err)
	}
	if _, err := collect(p.Do(t.Context(), big, numbered(1))); err == nil || !strings.Contains(err.Error(), "MaxShared") {
		t.Error(err)
	}
}

// A loop that ends early ends the jobs under way, since their workers find the pool gone.
func TestGone(t *testing.T) {
	url := start(t, 0)
	ended := make(chan struct{}, 9)
	reg := custom(func(ctx context.Context, _ []byte, n uint64) ([]byte, error) {
		if n == 0 {
			return nil, nil
		}
		<-ctx.Done()
		ended <- struct{}{}
		return nil, ctx.Err()
	})
	serve(t, url, reg, ServeOptions{Jobs: 2})
	nc := connect(t, url)
	p, err := NewPool(nc, PoolOptions{Jobs: 2, Silence: time.Second}) // more jobs than slots might leave none to job 0
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range p.Do(t.Context(), task, numbered(9)) {
		if err != nil {
			t.Fatal(err)
		}
		break
	}
	// The worker does other jobs again.
	again := make(chan error, 1)
	go func() {
		_, err := collect(newPool(t, nc).Do(context.Background(), task, numbered(1)))
		again <- err
	}()
	for {
		select {
		case <-ended: // as many as were under way
		case err := <-again:
			if err != nil {
				t.Error(err)
			}
			return
		}
	}
}

// A worker that ends returns its jobs, which others do at once.
func TestReturned(t *testing.T) {
	url := start(t, 0)
	begun := make(chan struct{}, 1)
	end := serve(t, url, custom(func(ctx context.Context, _ []byte, n uint64) ([]byte, error) {
		begun <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	}), ServeOptions{Jobs: 1})
	p, err := NewPool(connect(t, url), PoolOptions{Silence: time.Hour, Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		<-begun
		serve(t, url, custom(echo), ServeOptions{})
		end()
	}()
	if got, err := collect(p.Do(t.Context(), task, numbered(3))); err != nil || !slices.Equal(got, []string{"0", "1", "2"}) || p.Stats().Resent != 1 {
		t.Error(got, err, p.Stats())
	}
}

// fake takes requests in place of a worker and gives them to a function.
func fake(t *testing.T, url string, do func(nc *nats.Conn, to string, m *message)) *Pool {
	t.Helper()
	nc := connect(t, url)
	_, err := nc.QueueSubscribe(subjectOf(DefaultSubject, evertick.SimVersion), "workers", func(msg *nats.Msg) {
		if m, err := decode(msg.Data); err != nil {
			t.Error(err)
		} else {
			do(nc, msg.Reply, m)
		}
	})
	if err == nil {
		err = nc.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPool(connect(t, url), PoolOptions{Silence: 50 * time.Millisecond, Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// A job is sent again after a silence. Its second result must be equal to the first, while the search lasts.
func TestSecondResult(t *testing.T) {
	for _, second := range []string{"same", "other"} {
		times := map[uint64]int{}
		var first message
		p := fake(t, start(t, 0), func(nc *nats.Conn, to string, m *message) {
			m.kind, m.worker, m.body = result, "fake", []byte("same")
			if times[m.job]++; m.job == 3 && times[3] == 1 {
				first = *m // the worker is thought dead
				return
			}
			nc.Publish(to, m.encode())
			if m.job == 100 { // job 3 has had its second chance: it is too far ahead otherwise
				first.body = []byte(second)
				nc.Publish(to[:strings.LastIndex(to, ".")]+".3", first.encode())
			}
		})
		got, err := collect(p.Do(t.Context(), task, numbered(500)))
		if second == "same" {
			if err != nil || len(got) != 500 || p.Stats().Resent < 1 || p.Stats().Duplicates < 1 {
				t.Errorf("%d results, %v, %+v", len(got), err, p.Stats())
			}
		} else if !errors.Is(err, replay.ErrDiverged) || !strings.Contains(err.Error(), "job 3:") || !strings.Contains(err.Error(), `"fake"`) {
			t.Errorf("%d results, %v", len(got), err)
		}
	}
}

// Replies that are malformed, or of another task or job, end the search with an error that says so.
func TestForeignReplies(t *testing.T) {
	for name, change := range map[string]func(m *message) []byte{
		"checksum":          func(m *message) []byte { return []byte("no message") },
		"altered":           func(m *message) []byte { data := m.encode(); data[len(data)-9] ^= 1; return data },
		"of job 77":         func(m *message) []byte { m.job = 77; return m.encode() },
		"of task ":          func(m *message) []byte { m.task[3] ^= 1; return m.encode() },
		"reply to job 0 is": func(m *message) []byte { m.kind = request; return m.encode() },
	} {
		p := fake(t, start(t, 0), func(nc *nats.Conn, to string, m *message) {
			m.kind, m.worker, m.body = result, "fake", []byte("a result")
			nc.Publish(to, change(m))
		})
		_, err := collect(p.Do(t.Context(), task, numbered(1)))
		if !errors.Is(err, evertick.ErrCorrupt) || name != "altered" && !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A result of a job that was never sent.
	p := fake(t, start(t, 0), func(nc *nats.Conn, to string, m *message) {
		m.kind, m.worker, m.job = result, "fake", 900
		nc.Publish(to[:strings.LastIndex(to, ".")]+".900", m.encode())
	})
	if _, err := collect(p.Do(t.Context(), task, numbered(1))); !errors.Is(err, evertick.ErrCorrupt) || !strings.Contains(err.Error(), "job 900") {
		t.Error(err)
	}
}

// Shared data that are not those of the task are refused by the worker.
func TestForeignShared(t *testing.T) {
	url := start(t, 0)
	serve(t, url, custom(echo), ServeOptions{})
	nc := connect(t, url)
	nc.Subscribe("source", func(msg *nats.Msg) { msg.Respond([]byte("other")) })
	nc.Flush()
	m := message{kind: request, function: "custom", simVersion: evertick.SimVersion, shared: 5, source: "source"}
	m.task = taskID(m.function, m.simVersion, []byte("right"))
	if text := refusal(t, nc, evertick.SimVersion, m); !strings.Contains(text, "checksum") {
		t.Error(text)
	}
}

func TestOptions(t *testing.T) {
	nc := connect(t, start(t, 0))
	for _, o := range []PoolOptions{{Jobs: -1}, {Jobs: 1 << 20}, {Silence: -1}} {
		if _, err := NewPool(nc, o); !errors.Is(err, evertick.ErrRange) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	for _, o := range []ServeOptions{{Jobs: -1}, {Jobs: 1 << 20}, {Heartbeat: -1}, {MaxShared: -1}} {
		if err := Serve(t.Context(), nc, custom(echo), o); !errors.Is(err, evertick.ErrRange) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	done := make(chan error)
	go func() { done <- Serve(t.Context(), nc, custom(echo), ServeOptions{}) }()
	time.Sleep(10 * time.Millisecond)
	nc.Close()
	if err := <-done; !errors.Is(err, nats.ErrConnectionClosed) && !errors.Is(err, nats.ErrBadSubscription) {
		t.Error("a closed connection:", err)
	}
}

// FuzzDecode: a message is refused by name, or is encoded as the same bytes again.
func FuzzDecode(f *testing.F) {
	task := taskID("function", 3, []byte("shared"))
	for _, m := range []message{
		{kind: request, task: task, job: 300, function: "function", simVersion: 3, shared: 6, source: "inbox.shared", body: []byte("job")},
		{kind: result, task: task, job: 1 << 63, worker: "worker", body: make([]byte, 200)},
		{kind: refused, worker: "", body: nil},
	} {
		f.Add(m.encode()[:len(m.encode())-4])
	}
	f.Add([]byte("evtk.wrk\x02"))
	f.Fuzz(func(t *testing.T, content []byte) {
		data := withCRC(content)
		m, err := decode(data)
		if err != nil {
			if !errors.Is(err, evertick.ErrCorrupt) && !errors.Is(err, evertick.ErrUnsupported) {
				t.Error(err)
			}
			return
		}
		again, err := decode(m.encode())
		if err != nil || !reflect.DeepEqual(again, m) {
			t.Errorf("%+v, %v; want %+v", again, err, m)
		}
		data[len(data)/2] ^= 4
		if _, err := decode(data); !errors.Is(err, evertick.ErrCorrupt) {
			t.Errorf("altered: %v", err)
		}
	})
}
