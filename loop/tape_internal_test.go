package loop

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
)

// readers lists the exported methods of Loop that do not change later frames,
// and so are not on a tape.
var readers = []string{
	"Dt", "Due", "Fault", "Fork", "Frozen", "Paused", "Phase", "Rate", "Record", "Refresh",
	"Scale", "Tick", "TimeAt", "Timeline", "TimerLeft", "UntilFrame", "UntilNext",
}

// drivers lists the methods that reach the Loop through others.
var drivers = []string{"Drive", "Run", "RunWith"}

// A method that changes what later frames are has to be on the tape, and here.
func TestTapeKnowsAllMethods(t *testing.T) {
	known := slices.Concat(readers, drivers)
	for _, in := range slices.Concat(frames, setters) {
		known = append(known, in.name)
	}
	loop := reflect.TypeFor[*Loop]()
	for i := range loop.NumMethod() {
		if name := loop.Method(i).Name; !slices.Contains(known, name) {
			t.Errorf("Loop.%s is in none of the lists: if it changes later frames, put it on the tape and among setters; otherwise, among readers", name)
		}
	}
	for _, name := range known {
		if _, ok := loop.MethodByName(name); !ok {
			t.Errorf("Loop has no method %s any more", name)
		}
	}
}

// Every input writes something, whenever it changes something.
func TestTapeMissesNothing(t *testing.T) {
	for _, in := range slices.Concat(frames, setters) {
		check := func(t rapid.TB, call func(*Loop) []Frame) (wrote bool) {
			l, tape := recording(t, Config{RateNum: 60, MaxSteps: 3})
			l.Advance(20e6)
			if err := l.SetScale(Dilation, "hit", 0.5, 50e6); err != nil {
				t.Fatal(err)
			}
			before, length := l.state, tape.Len()
			call(l)
			if tape.Len() == length && l.state != before {
				t.Fatalf("%s changed the Loop and wrote nothing", in.name)
			}
			return tape.Len() > length
		}
		rapid.Check(t, func(t *rapid.T) { check(t, in.draw(t)) })
		wrote := false
		call := rapid.Custom(func(t *rapid.T) func(*Loop) []Frame {
			rapid.Bool().Draw(t, "something") // which Custom insists on, and some inputs do not
			return in.draw(t)
		})
		for seed := range 100 {
			wrote = check(t, call.Example(seed)) || wrote
		}
		if !wrote {
			t.Errorf("%s never wrote to the tape", in.name)
		}
	}
}

type fataler interface {
	Helper()
	Fatal(...any)
}

// recording returns a new Loop and the tape to which it records.
func recording(t fataler, c Config) (*Loop, *Tape) {
	t.Helper()
	l, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	tape := new(Tape)
	if err := l.Record(tape); err != nil {
		t.Fatal(err)
	}
	return l, tape
}

// replayed sends tape through its binary form and returns the frames in it.
func replayed(t fataler, tape *Tape) []Frame {
	t.Helper()
	data, err := tape.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var read Tape
	if err := read.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	if read.Config() != tape.Config() {
		t.Fatal("Config", read.Config(), "want", tape.Config())
	}
	var list []Frame
	if err := read.Replay(func(f Frame) error { list = append(list, f); return nil }); err != nil {
		t.Fatal(err)
	}
	return list
}

// compareFrames fails at the first frame that differs.
func compareFrames(t interface {
	fataler
	Fatalf(string, ...any)
}, got, want []Frame) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("frame %d\n got %+v\nwant %+v", i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%d frames, want %d", len(got), len(want))
	}
}

func TestTapeReplaysAllInputs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, tape := recording(t, drawLoopConfig(t))
		var want []Frame
		for range rapid.IntRange(0, 60).Draw(t, "inputs") {
			_, call := drawInput(t)
			want = append(want, call(l)...)
			_ = l.UntilNext() // reads a copy
		}
		if err := tape.Err(); err != nil {
			t.Fatal(err)
		}
		compareFrames(t, replayed(t, tape), want)
	})
}

// Run and Drive are on the tape with the steps that failed, stopped or panicked.
func TestTapeOfRun(t *testing.T) {
	l, tape := recording(t, Config{Policy: Keep})
	var want []Frame
	for _, last := range []uint64{40, 41, 80, 100} {
		clock := new(ManualClock)
		clock.Jump = true
		_ = l.Run(context.Background(), clock, func(tick uint64) error {
			if tick >= last {
				return errStep
			}
			return nil
		}, func(f Frame) { f.LateNs = 0; want = append(want, f) })
		f := l.Advance(100e6)
		want = append(want, f)
		func() {
			defer func() { _ = recover() }()
			_, _ = l.Drive(100e6, func(tick uint64) error {
				if tick == f.Tick+1 {
					panic("a step")
				}
				return nil
			})
		}()
		want = append(want, l.Advance(16e6))
	}
	// The frames of which Run and Drive returned nothing are on the tape, too.
	got := slices.DeleteFunc(replayed(t, tape), func(f Frame) bool { return !slices.Contains(want, f) })
	compareFrames(t, got, want)
}

// Four bytes hold a usual frame, whichever way the time comes.
func TestTapeBytesOfAFrame(t *testing.T) {
	for _, hz := range []float64{30, 60, 144, 240} {
		for _, scatter := range []int64{50_000, 2_000_000} {
			l, tape := recording(t, Config{})
			m, tapeTo := recording(t, Config{})
			now := int64(1_700_000_000_000_000_000)
			l.Advance(0)
			m.AdvanceTo(now)
			for i, ns := range display(hz, 10_000, scatter, 1, func(i int) bool { return hz > 50 && i%100 == 7 }) {
				before, beforeTo := tape.Len(), tapeTo.Len()
				l.Advance(ns)
				now += ns
				m.AdvanceTo(now)
				if i < 2 {
					continue // from nothing to the usual
				}
				if n, nTo := tape.Len()-before, tapeTo.Len()-beforeTo; n > 4 || nTo > 4 {
					t.Fatalf("%v Hz ± %d ns: frame %d takes %d bytes by Advance, %d by AdvanceTo", hz, scatter, i, n, nTo)
				}
			}
			t.Logf("%3v Hz ± %4d µs: %.3f bytes a frame", hz, scatter/1000, float64(tape.Len()-tape.inputs)/10_001)
		}
	}
}

func TestTapeOfExtremes(t *testing.T) {
	l, tape := recording(t, Config{})
	var want []Frame
	for _, ns := range []int64{math.MaxInt64, math.MinInt64, 0, math.MaxInt64, -1, 1} {
		want = append(want, l.Advance(ns), l.AdvanceTo(ns))
	}
	compareFrames(t, replayed(t, tape), want)
}

// A copy is another Loop, and a Loop that is overwritten is no longer the one of
// the tape.
func TestTapeAndCopies(t *testing.T) {
	l, tape := recording(t, Config{})
	var want []Frame
	want = append(want, l.Advance(20e6))
	saved := *l
	fork := l.Fork()
	saved.Advance(1e9)
	fork.Advance(1e9)
	fork.SetPaused(true)
	want = append(want, l.Advance(30e6))
	compareFrames(t, replayed(t, tape), want)
	if fork.tape != nil {
		t.Error("a fork holds the tape")
	}

	*l = saved
	l.SetPaused(true)
	l.Advance(20e6)
	if err := tape.Err(); !errors.Is(err, fault.ErrStale) {
		t.Errorf("the Loop was overwritten: %v", err)
	}
	compareFrames(t, replayed(t, tape), want)
}

func TestRecord(t *testing.T) {
	l, tape := recording(t, Config{})
	l.Advance(20e6)
	for _, use := range []func(){
		func() {},
		func() { l.StartNew(); l.SetMenu(true) },
		func() { l.StartNew(); _ = l.StartTimer(3, Wall, 5) },
		func() { l.StartNew(); _ = l.SetScale(Speed, "a", 1, Forever) },
	} {
		use()
		other := new(Tape)
		if err := l.Record(other); !errors.Is(err, ErrRange) || other.Len() != 0 || l.tape != tape {
			t.Errorf("Record of a Loop that has been used: %v, %d bytes", err, other.Len())
		}
	}
	l.StartNew()
	if err := l.Record(tape); err != nil {
		t.Fatal(err)
	}
	want := []Frame{l.Advance(20e6)}
	if err := l.Record(nil); err != nil {
		t.Fatal(err)
	}
	l.Advance(20e6)
	compareFrames(t, replayed(t, tape), want)

	var zero Loop
	defer func() {
		if r := recover(); r != "loop: Loop not made by New" {
			t.Errorf("Record of a zero Loop: %v", r)
		}
	}()
	_ = zero.Record(tape)
}

func TestTapeLimit(t *testing.T) {
	_, empty := recording(t, Config{})
	for room := range 40 {
		tape := &Tape{Limit: empty.Len() + room}
		l, err := New(Config{})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Record(tape); err != nil {
			t.Fatal(err)
		}
		var want []Frame
		for i := range 20 {
			f := l.Advance(16_600_000 + int64(i)*977)
			if tape.Err() == nil {
				want = append(want, f)
				_ = l.SetScale(Juice, "an owner", 0.5, 1e6)
			}
			if tape.Len() > tape.Limit {
				t.Fatalf("%d bytes of %d", tape.Len(), tape.Limit)
			}
		}
		if err := tape.Err(); !errors.Is(err, fault.ErrCapacity) {
			t.Errorf("room for %d bytes: %v", room, err)
		}
		compareFrames(t, replayed(t, tape), want)
	}
}

func TestTapeDoesNotAllocate(t *testing.T) {
	l, tape := recording(t, Config{})
	tape.Grow(1 << 20)
	if n := testing.AllocsPerRun(1000, func() {
		l.Advance(16_700_000)
		l.AdvanceTo(l.last + 16_600_000)
		_ = l.SetScale(Juice, "effects", 0.5, 1e6)
		_ = l.ReleaseScale(Juice, "effects")
		_ = l.StartTimer(1, Wall, 5)
		l.SetPaused(false)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if tape.Err() != nil || tape.Len() < 10_000 {
		t.Errorf("%d bytes, %v", tape.Len(), tape.Err())
	}
	var none Loop = l.Fork()
	if n := testing.AllocsPerRun(100, func() { _ = none.SetScale(Juice, "effects", 0.5, 1e6); none.Advance(1e6) }); n != 0 {
		t.Errorf("without a tape: %v allocations", n)
	}
}

// sample records a little of everything.
func sample(t fataler) *Tape {
	c := Arcade()
	c.OnFault = Halt
	l, tape := recording(t, c)
	l.Advance(16_600_000)
	l.AdvanceTo(5_000_000)
	_ = l.SetScale(Juice, "effects", 0.25, 5e6)
	_ = l.Freeze(80_000_000)
	_ = l.StartTimer(2, UI, 50e6)
	_ = l.ReleaseScale(Juice, "effects")
	l.SetPaused(true)
	l.SetPaused(false)
	l.SetMenu(true)
	l.SetMenu(false)
	_ = l.SetPhase(3)
	l.RunThenPause(4)
	_, _ = l.Drive(150_000_000, func(uint64) error { return errStep })
	_, _ = l.Drive(150_000_000, func(uint64) error {
		l.SetPaused(false)
		panic("a step")
	})
	l.Advance(0)
	l.Resume()
	l.Advance(math.MaxInt64)
	l.ResetTiming()
	l.StartNew()
	l.Advance(math.MinInt64)
	return tape
}

// keptTape is what sample recorded once.
const keptTape = "" +
	"6576746b6c6f6f7001db037b22526174654e756d223a36302c225261746544656e223a312c224d61785374657073223a" +
	"342c224361705363616c6573223a747275652c224d617844656c74614e73223a33333030303030302c22436c69705469" +
	"6d65223a747275652c225374616c6c4e73223a3230303030303030302c224d6178416363756d4e73223a323530303030" +
	"3030302c22506f6c696379223a322c224368616e6e656c73223a5b7b224d696e223a302c224d6178223a3130302c2252" +
	"657374223a317d2c7b224d696e223a302c224d6178223a3130302c2252657374223a317d2c7b224d696e223a302e312c" +
	"224d6178223a312c2252657374223a317d2c7b224d696e223a302c224d6178223a3130302c2252657374223a317d2c7b" +
	"224d696e223a302c224d6178223a3130302c2252657374223a317d2c7b224d696e223a302c224d6178223a3130302c22" +
	"52657374223a317d2c7b224d696e223a302c224d6178223a3130302c2252657374223a317d2c7b224d696e223a302c22" +
	"4d6178223a3130302c2252657374223a317d5d2c22506861736573223a302c224261746368223a66616c73652c224a69" +
	"74746572466978223a302c22536d6f6f746844656c7461223a66616c73652c22506163696e67223a302c224f6e466175" +
	"6c74223a317d80bca93f81b489132a02c096b10280808080808080e83f07656666656374732280e8922626020180e1eb" +
	"172e020765666665637473120112001a011a001e03160480dcf0fc0332040000320804120032000036fc979abc043a02" +
	"feffffffffffffffff010e0a08e996529b"

// The format is what it was: inputs are written as they were, and a tape that
// was kept can be read, whatever fields Config has got since.
func TestTapeGolden(t *testing.T) {
	data, err := hex.DecodeString(keptTape)
	if err != nil {
		t.Fatal(err)
	}
	var kept Tape
	if err := kept.UnmarshalBinary(data); err != nil {
		t.Fatal(err)
	}
	now := sample(t)
	if was, is := kept.data[kept.inputs:], now.data[now.inputs:]; !bytes.Equal(was, is) {
		t.Errorf("inputs\n now %x\nkept %x", is, was)
	}
	compareFrames(t, replayed(t, &kept), replayed(t, now))
}

// reseal repairs the checksum of data.
func reseal(data []byte) []byte {
	if len(data) < crc32.Size {
		return data
	}
	body := data[:len(data)-crc32.Size]
	return binary.LittleEndian.AppendUint32(slices.Clone(body), wire.CRC(0, body))
}

func TestTapeOfBadData(t *testing.T) {
	good, err := sample(t).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var tape Tape
	refuse := func(what string, data []byte, want error) {
		t.Helper()
		if err := tape.UnmarshalBinary(data); !errors.Is(err, want) || tape.Len() != 0 {
			t.Errorf("%s: %v, %d bytes", what, err, tape.Len())
		}
	}
	for n := range good {
		refuse("cut", good[:n], fault.ErrCorrupt)
	}
	for i := range len(good) * 8 {
		bad := slices.Clone(good)
		bad[i/8] ^= 1 << (i % 8)
		refuse("a bit", bad, fault.ErrCorrupt)
	}
	version := slices.Clone(good)
	version[len(tapeMagic)] = 2
	refuse("version", reseal(version), fault.ErrUnsupported)

	head := []byte(tapeMagic + "\x01")
	long := binary.AppendUvarint(slices.Clone(head), math.MaxUint64)
	refuse("length of the Config", reseal(append(long, "{}XXXX"...)), fault.ErrCorrupt)
	refuse("no Config", reseal(append(slices.Clone(head), "XXXX"...)), fault.ErrCorrupt)
	for _, config := range []string{`{"RateNum":-1}`, `{"Rate":60}`, `[]`, `{`, ``} {
		data := binary.AppendUvarint(slices.Clone(head), uint64(len(config)))
		refuse(config, reseal(append(append(data, config...), "XXXX"...)), fault.ErrCorrupt)
	}
	if err := tape.Replay(nil); !errors.Is(err, ErrRange) {
		t.Errorf("Replay of an empty tape: %v", err)
	}
	if _, err := tape.MarshalBinary(); !errors.Is(err, ErrRange) {
		t.Errorf("MarshalBinary of an empty tape: %v", err)
	}
}

// Inputs that no Loop can have recorded are refused, and allocate next to nothing.
func TestTapeOfForgedInputs(t *testing.T) {
	op := func(code uint64, args ...uint64) []byte {
		data := binary.AppendUvarint(nil, code<<tapeKindBits|tapeOther)
		for _, a := range args {
			data = binary.AppendUvarint(data, a)
		}
		return data
	}
	frame := binary.AppendUvarint(nil, zigzag(50e6)<<tapeKindBits) // 3 steps
	for name, data := range map[string][]byte{
		"kind":              {3},
		"code":              op(99),
		"half a number":     {0x80},
		"no argument":       op(opSetPhase),
		"flag":              op(opSetMenu, 2),
		"phase":             op(opSetPhase, 64),
		"great phase":       op(opSetPhase, 256),
		"freeze":            op(opFreeze, 1<<63),
		"timer":             op(opStartTimer, MaxTimers, 0, 1),
		"clock":             op(opStartTimer, 0, 2, 1),
		"channel":           append(op(opSetScale, 8, 0, math.Float64bits(1), 1), 'a'),
		"scale":             append(op(opSetScale, 0, 0, math.Float64bits(math.NaN()), 1), 'a'),
		"length of owner":   op(opSetScale, 0, 0, math.Float64bits(1), math.MaxUint64),
		"no owner":          op(opReleaseScale, 0, 0),
		"steps of nothing":  op(opShift, zigzag(1), 0),
		"steps put back":    append(slices.Clone(frame), op(opShift, zigzag(4), 0)...),
		"steps taken out":   append(slices.Clone(frame), op(opShift, zigzag(-1), 0)...),
		"steps of before":   slices.Concat(frame, op(opStartNew), op(opShift, zigzag(1), 0)),
		"steps that run":    append(slices.Clone(frame), op(opShift, zigzag(2), 3)...),
		"frame in a step":   slices.Concat(frame, op(opShift, zigzag(2), 1), frame),
		"steps out of none": slices.Concat(frame, op(opShift, zigzag(2), 0), op(opResetTiming), op(opShift, zigzag(-2), 0)),
	} {
		_, tape := recording(t, Config{})
		tape.data = append(tape.data, data...)
		if err := tape.Replay(nil); !errors.Is(err, fault.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// What is well formed is played until it ends.
	_, tape := recording(t, Config{})
	tape.data = append(append(tape.data, frame...), op(opShift, zigzag(3), 2)...)
	if err := tape.Replay(func(Frame) error { return errStep }); err != errStep {
		t.Errorf("Replay returned %v", err)
	}
	if err := tape.Replay(nil); err != nil {
		t.Error(err)
	}
}

func FuzzTape(f *testing.F) {
	good, err := sample(f).MarshalBinary()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Fuzz(func(t *testing.T, data []byte) {
		data = reseal(data)
		var tape Tape
		if err := tape.UnmarshalBinary(data); err != nil {
			if !errors.Is(err, fault.ErrCorrupt) && !errors.Is(err, fault.ErrUnsupported) {
				t.Fatal(err)
			}
			return
		}
		if back, err := tape.MarshalBinary(); err != nil || !bytes.Equal(back, data) {
			t.Fatalf("written back: %x, %v", back, err)
		}
		var first, second []Frame
		err := tape.Replay(func(f Frame) error {
			if f.Alpha < 0 || f.Alpha >= 1 || f.AlphaNum >= f.AlphaDen || f.Steps < 0 {
				t.Fatalf("%+v", f)
			}
			first = append(first, f)
			return nil
		})
		if err != nil && !errors.Is(err, fault.ErrCorrupt) {
			t.Fatal(err)
		}
		_ = tape.Replay(func(f Frame) error { second = append(second, f); return nil })
		compareFrames(t, second, first)
	})
}
