package replica

import (
	"encoding/binary"
	"fmt"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
)

// Version is the version of the messages.
const Version = 3

// Kinds of messages: the first byte of each.
const (
	kindHello = 1 + iota
	kindWelcome
	kindKeyframe
	kindUpdate
	kindSnapshot
	kindInputs
	kindPong
	kindError
)

const (
	kindInput = 16 + iota
	kindAck
	kindLook
	kindPing
	kindResync
)

const (
	magic           = "evrp"
	mostCredentials = 4096
	mostToken       = 256
	mostInputs      = 64 // in a message
	mostErrorText   = 256
	mostRate        = 100_000_000 // numerator and denominator: see loop.Config
)

// Mode is what a client does with the messages.
type Mode uint8

const (
	// View is a client that gets the state of what it sees.
	View Mode = iota
	// Simulate is a client that runs the Sim itself: it gets a snapshot, and then all inputs.
	Simulate
)

// Hello is the first message of a client.
type Hello struct {
	Mode        Mode
	SimVersion  uint32 // 0: unknown
	Schema      uint64 // Schema.Hash that the client was written for, or 0
	Credentials []byte // for Config.Authorize, at most 4,096 bytes
	Token       []byte // to resume a session, or none
	Held        uint64 // tick of the state that the client holds, or 0
}

func (h *Hello) append(dst []byte) []byte {
	dst = append(append(dst, kindHello), magic...)
	dst = wire.AppendU32s(append(dst, Version, byte(h.Mode)), h.SimVersion)
	dst = wire.AppendU64s(dst, h.Schema)
	dst = appendBytes(appendBytes(dst, h.Credentials), h.Token)
	return binary.AppendUvarint(dst, h.Held)
}

// parseHello reads a Hello. Its slices are part of the message. A version that is not supported is
// evertick.ErrUnsupported, anything else that is wrong evertick.ErrCorrupt.
func parseHello(message []byte) (h Hello, err error) {
	r := wire.NewReader(message)
	if kind, m := r.U8(), r.Bytes(len(magic)); r.Err() == nil && (kind != kindHello || string(m) != magic) {
		r.Fail("magic of a Hello", m)
	}
	if v := r.U8(); r.Err() == nil && v != Version {
		return Hello{}, fmt.Errorf("replica: Hello.version = %d: %w", v, fault.ErrUnsupported)
	}
	if h.Mode = Mode(r.U8()); h.Mode > Simulate {
		r.Fail("mode", h.Mode)
	}
	h.SimVersion, h.Schema = r.U32(), r.U64()
	h.Credentials, h.Token = readBytes(&r, mostCredentials), readBytes(&r, mostToken)
	h.Held = readUint(&r)
	if err := r.Done(); err != nil {
		return Hello{}, fmt.Errorf("replica: Hello: %w", err)
	}
	return h, nil
}

// welcome is the answer to a Hello.
type welcome struct {
	session          uint32
	resumed          bool
	token            []byte
	received         uint64
	tick             uint64
	rateNum, rateDen uint64
	every            uint64
	seed             uint64
	simVersion       uint32
	scenario         string
	schema           Schema
}

func (w *welcome) append(dst []byte) []byte {
	dst = wire.AppendU32s(append(dst, kindWelcome), w.session)
	flags := byte(0)
	if w.resumed {
		flags = 1
	}
	dst = appendBytes(append(dst, flags), w.token)
	for _, v := range [...]uint64{w.received, w.tick, w.rateNum, w.rateDen, w.every} {
		dst = binary.AppendUvarint(dst, v)
	}
	dst = wire.AppendU32s(wire.AppendU64s(dst, w.seed), w.simVersion)
	return appendBytes(appendText(dst, w.scenario), w.schema.append(nil))
}

// parseWelcome reads a Welcome. Its token is part of the message.
func parseWelcome(message []byte) (w welcome, err error) {
	r := messageReader(message, kindWelcome)
	if w.session, w.resumed = r.U32(), r.Bool(); w.session == 0 {
		r.Fail("session", w.session)
	}
	w.token = readBytes(&r, mostToken)
	w.received, w.tick = readUint(&r), readUint(&r)
	w.rateNum, w.rateDen, w.every = r.Canonical(1, mostRate), r.Canonical(1, mostRate), r.Canonical(1, mostEvery)
	w.seed, w.simVersion, w.scenario = r.U64(), r.U32(), readText(&r, mostName)
	schema := wire.NewReader(readBytes(&r, len(message)))
	if w.schema = readSchema(&schema); r.Err() == nil && schema.Err() != nil {
		r.FailWith(schema.Err())
	}
	if err := r.Done(); err != nil {
		return welcome{}, fmt.Errorf("replica: Welcome: %w", err)
	}
	return w, nil
}

// intent is an input on its way to the server.
type intent struct {
	seq, tick uint64
	kind      uint32
	data      []byte
	ahead     float64 // in the client: its tick less the server's, by its estimate
}

func appendIntents(dst []byte, list []intent) []byte {
	dst = binary.AppendUvarint(append(dst, kindInput), uint64(len(list)))
	for i := range list {
		in := &list[i]
		dst = binary.AppendUvarint(binary.AppendUvarint(dst, in.seq), in.tick)
		dst = appendBytes(binary.AppendUvarint(dst, uint64(in.kind)), in.data)
	}
	return dst
}

// parseIntents reads an Input message into dst. The data of the intents are part of the message.
func parseIntents(dst []intent, message []byte) ([]intent, error) {
	r := messageReader(message, kindInput)
	dst = dst[:0]
	for range r.Count(r.Canonical(1, mostInputs), mostInputs, 4) {
		in := intent{seq: r.Canonical(1, mostSeq), tick: r.Canonical(0, 1<<63-1), kind: uint32(r.Canonical(0, 1<<32-1))}
		in.data = readBytes(&r, len(message))
		if n := len(dst); n > 0 && dst[n-1].seq >= in.seq {
			r.Fail("sequence number", in.seq)
		}
		dst = append(dst, in)
	}
	if err := r.Done(); err != nil {
		return dst[:0], fmt.Errorf("replica: Input: %w", err)
	}
	return dst, nil
}

// look is a request for another view.
type look struct {
	follow  uint64 // id of an entity, or 0: the point
	x, y, z float32
	origin  [3]float64 // of the point
}

func (l *look) append(dst []byte) []byte {
	if l.follow != 0 {
		return wire.AppendU64s(append(dst, kindLook, 0), l.follow)
	}
	return appendOrigin(wire.AppendF32s(append(dst, kindLook, 1), l.x, l.y, l.z), &l.origin)
}

func parseLook(message []byte) (l look, err error) {
	r := messageReader(message, kindLook)
	if point := r.Bool(); !point {
		if l.follow = r.U64(); l.follow == 0 {
			r.Fail("id", l.follow)
		}
	} else {
		l.x, l.y, l.z = r.F32(), r.F32(), r.F32()
		if !fault.Finite(l.x) || !fault.Finite(l.y) || !fault.Finite(l.z) {
			r.Fail("point", [...]float32{l.x, l.y, l.z})
		}
		l.origin = readOrigin(&r)
	}
	if err := r.Done(); err != nil {
		return look{}, fmt.Errorf("replica: Look: %w", err)
	}
	return l, nil
}

// appendTick appends an Ack or a Resync.
func appendTick(dst []byte, kind byte, tick uint64) []byte {
	return binary.AppendUvarint(append(dst, kind), tick)
}

func parseTick(message []byte, kind byte) (uint64, error) {
	r := messageReader(message, kind)
	tick := readUint(&r)
	if err := r.Done(); err != nil {
		return 0, fmt.Errorf("replica: tick of frame kind %d: %w", kind, err)
	}
	return tick, nil
}

func appendPing(dst []byte, t0 uint64) []byte { return wire.AppendU64s(append(dst, kindPing), t0) }

func parsePing(message []byte) (uint64, error) {
	r := messageReader(message, kindPing)
	t0 := r.U64()
	if err := r.Done(); err != nil {
		return 0, fmt.Errorf("replica: Ping: %w", err)
	}
	return t0, nil
}

func appendPong(dst []byte, t0, t1, t2 uint64) []byte {
	return wire.AppendU64s(append(dst, kindPong), t0, t1, t2)
}

func parsePong(message []byte) (t [3]uint64, err error) {
	r := messageReader(message, kindPong)
	r.U64s(t[:])
	if err := r.Done(); err != nil {
		return [3]uint64{}, fmt.Errorf("replica: Pong: %w", err)
	}
	return t, nil
}

// messageReader returns a Reader of what follows the kind of a message.
func messageReader(message []byte, kind byte) wire.Reader {
	r := wire.NewReader(message)
	if k := r.U8(); r.Err() == nil && k != kind {
		r.Fail("kind of frame", k)
	}
	return r
}

func readUint(r *wire.Reader) uint64 { return r.Canonical(0, 1<<64-1) }

func appendBytes(dst, b []byte) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(b))), b...)
}

func readBytes(r *wire.Reader, most int) []byte {
	return r.Bytes(r.Count(r.Canonical(0, uint64(most)), most, 1))
}
