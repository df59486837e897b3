package jetstream

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/evertick/evertick/worldlog"
)

func sampleTick() *worldlog.Tick {
	return &worldlog.Tick{Tick: 9, Hash: 77, Counts: worldlog.Counts{Dropped: 1, Live: 300}, Records: []worldlog.Record{
		{Tick: 9, Type: worldlog.Input, Source: 3, Kind: 1 << 20, Seq: 1 << 60, Data: []byte("push")},
		{Tick: 9, Type: worldlog.Marker, Data: []byte{}},
	}}
}

func sample(s *sums) *message {
	m := &message{kind: kindTicks, term: 4, owner: owner{1, 2}, first: 9, count: 1,
		id: worldlog.Identity{Scenario: "field", SimVersion: 1, Seed: 5, Parent: [32]byte{9}}}
	encoded := appendTick(nil, sampleTick())
	m.before = s.start(&m.id)
	m.after = s.tick(m.before, 9, encoded)
	m.body = appendToBody(nil, encoded)
	return m
}

// What is encoded is decoded again; references to snapshots are left out.
func TestMessage(t *testing.T) {
	s := newSums([]byte("key"))
	m := sample(s)
	data := m.append(nil, s)
	if len(data) > maxHeader+len(m.body) {
		t.Fatal("maxHeader is too small")
	}
	var got message
	if err := got.decode(data, s); err != nil || !reflect.DeepEqual(&got, m) {
		t.Fatalf("%+v, %v", got, err)
	}
	ticks, err := got.split(s, nil)
	if err != nil || len(ticks) != 1 {
		t.Fatal(err)
	}
	with := sampleTick()
	with.Records = append(with.Records, worldlog.Record{Type: worldlog.SnapshotRef, Data: []byte{1}})
	if !bytes.Equal(appendTick(nil, with), ticks[0]) {
		t.Fatal("a reference to a snapshot is encoded")
	}
	var tick worldlog.Tick
	if err := decodeTick(ticks[0], 9, &tick); err != nil || !reflect.DeepEqual(&tick, sampleTick()) {
		t.Fatalf("%+v, %v", tick, err)
	}
}

// Every changed byte, every end before the end, and another key are found.
func TestMessageDamaged(t *testing.T) {
	s := newSums([]byte("key"))
	data := sample(s).append(nil, s)
	var m message
	for i := range data {
		bad := bytes.Clone(data)
		bad[i] ^= 0x10
		if err := m.decode(bad, s); !errors.Is(err, ErrForged) && !errors.Is(err, ErrUnsupported) {
			t.Fatalf("byte %d: %v", i, err)
		}
		if err := m.decode(data[:i], s); !errors.Is(err, ErrForged) {
			t.Fatalf("%d bytes: %v", i, err)
		}
	}
	for _, key := range [][]byte{nil, []byte("kez")} {
		if err := m.decode(data, newSums(key)); !errors.Is(err, ErrForged) {
			t.Fatal(err)
		}
	}
}

// Fields that contradict each other are refused although the checksum is right.
func TestMessageImpossible(t *testing.T) {
	s := newSums(nil)
	for name, change := range map[string]func(*message){
		"kind 0":        func(m *message) { m.kind = 0 },
		"kind 9":        func(m *message) { m.kind = 9 },
		"no ticks":      func(m *message) { m.count, m.after = 0, m.before },
		"term of ticks": func(m *message) { m.kind = kindTerm },
		"part":          func(m *message) { m.part = 1 },
		"part of parts": func(m *message) { m.kind, m.parts, m.part = kindPart, 2, 2 },
		"first part":    func(m *message) { m.kind, m.parts = kindPart, 2 },
		"first":         func(m *message) { m.first = 1 << 63 },
		"below first":   func(m *message) { m.id.FirstTick = 10 },
		"sums":          func(m *message) { m.kind, m.count = kindTerm, 0 },
	} {
		m := sample(s)
		change(m)
		var got message
		if err := got.decode(m.append(nil, s), s); !errors.Is(err, ErrCorrupt) || errors.Is(err, ErrForged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	m := sample(s)
	m.after[3]++
	if _, err := m.split(s, nil); !errors.Is(err, ErrForged) {
		t.Error(err)
	}
	m.count = 2
	if _, err := m.split(s, nil); !errors.Is(err, ErrCorrupt) {
		t.Error(err)
	}
}

// Whatever is read, decoders neither panic nor allocate beyond what is there, and what they accept has one encoding.
func FuzzMessage(f *testing.F) {
	s := newSums(nil)
	m := sample(s)
	whole := m.append(nil, s)
	f.Add(whole[:len(whole)-sumSize])
	m.kind, m.count, m.after, m.body = kindTerm, 0, m.before, nil
	whole = m.append(nil, s)
	f.Add(whole[:len(whole)-sumSize])
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		s := newSums(nil)
		check := s.of(data)
		data = append(bytes.Clone(data), check[:]...)
		var m message
		if m.decode(data, s) != nil {
			return
		}
		if !bytes.Equal(m.append(nil, s), data) {
			t.Fatal("another encoding")
		}
		m.split(s, nil)
	})
}

func FuzzTick(f *testing.F) {
	f.Add(appendTick(nil, sampleTick()))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		var tick worldlog.Tick
		if decodeTick(data, 3, &tick) == nil && !bytes.Equal(appendTick(nil, &tick), data) {
			t.Fatal("another encoding")
		}
	})
}

func FuzzSnapshot(f *testing.F) {
	s := newSums(nil)
	m := sample(s)
	m.kind, m.count, m.after, m.body = kindSnapshot, 0, m.before, make([]byte, 32)
	f.Add(append([]byte{0xd0, 1}, m.append(nil, s)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, _, err := readSnapshot(bytes.NewReader(data), newSums(nil), 1<<16); err == nil {
			t.Fatal("a snapshot without a state is accepted")
		}
	})
}
