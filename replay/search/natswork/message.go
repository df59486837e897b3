package natswork

import (
	"crypto/sha256"
	"fmt"
	"math"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
)

// A message is
//
//	"evtk.wrk"  byte version  byte kind  32 bytes task  uvarint number of the job
//	request:    function, with its length  uint32 SimVersion  uvarint length of the shared data  subject, with its length
//	reply:      name of the worker, with its length
//	the job, the result or a text  CRC-32C of all before
const (
	magic   = "evtk.wrk"
	version = 1
	// overhead bounds what a message has besides names, subject and body.
	overhead = len(magic) + 2 + sha256.Size + 4*10 + 4 + wire.CRCSize
)

type kind uint8

const (
	request  kind = iota
	alive         // the job is under way
	result        // its result
	failed        // its error
	refused       // the worker cannot do it: the error
	returned      // the worker will not do it, since it ends
	kinds
)

type message struct {
	kind kind
	task [sha256.Size]byte
	job  uint64
	body []byte

	// Of a request.
	function   string
	simVersion uint32
	shared     uint64 // bytes
	source     string // subject from which the worker fetches them

	worker string // of a reply
}

// taskID identifies a task and its shared data.
func taskID(function string, simVersion uint32, shared []byte) (id [sha256.Size]byte) {
	h := sha256.New()
	h.Write(wire.AppendPrefixed(wire.AppendU32s(nil, simVersion), function))
	h.Write(shared)
	h.Sum(id[:0])
	return id
}

func (m *message) encode() []byte {
	dst := append([]byte(magic), version, byte(m.kind))
	dst = wire.AppendUvarints(append(dst, m.task[:]...), m.job)
	if m.kind == request {
		dst = wire.AppendU32s(wire.AppendPrefixed(dst, m.function), m.simVersion)
		dst = wire.AppendPrefixed(wire.AppendUvarints(dst, m.shared), m.source)
	} else {
		dst = wire.AppendPrefixed(dst, m.worker)
	}
	return wire.AppendCRC(append(dst, m.body...), 0)
}

// decode reads a message. Its body is a part of data. The error wraps ErrCorrupt, or ErrUnsupported for another version.
func decode(data []byte) (*message, error) {
	content, _, ok := wire.CutCRC(data)
	if !ok {
		return nil, fault.Field(evertick.ErrCorrupt, "natswork: checksum of a message: bytes", len(data))
	}
	r, m := wire.NewReader(content), &message{}
	if string(r.Bytes(len(magic))) != magic {
		r.Fail("message does not begin with", magic)
	} else if v := r.U8(); r.Err() == nil && v != version {
		return nil, fmt.Errorf("%w, this is %d", fault.Field(evertick.ErrUnsupported, "natswork: version of a message", v), version)
	}
	if m.kind = kind(r.U8()); m.kind >= kinds {
		r.Fail("kind of a message", m.kind)
	}
	copy(m.task[:], r.Bytes(len(m.task)))
	m.job = r.Uvarint()
	if m.kind == request {
		m.function, m.simVersion = r.String(math.MaxInt), r.U32()
		m.shared, m.source = r.Uvarint(), r.String(math.MaxInt)
	} else {
		m.worker = r.String(math.MaxInt)
	}
	m.body = r.Rest()
	if err := r.Err(); err != nil {
		return nil, fmt.Errorf("natswork: message: %w", err)
	}
	return m, nil
}
