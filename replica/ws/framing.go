//go:build !js

package ws

import "encoding/binary"

const (
	// What a client makes the server do is counted in bytes. A frame that package websocket handles by itself costs about as
	// much work as so many bytes, and so does a call of Read. Each is at most such a part of a second's bytes.
	frameBytes, framesPerSecond = 4 << 10, 128
	readBytes, readsPerSecond   = 256, 2048

	mostFrameHeader = 14 // bytes, with the mask
	opMask          = 0x0f
	opContinuation  = 0x00
	opControl       = 0x08 // and all above
	lengthMask      = 0x7f
	maskBit         = 0x80
)

// framing follows the frames in the bytes of a client. replica.Limits bound messages. A control frame and a fragment of a message
// after the first are seen only by package websocket, which takes any number of them.
type framing struct {
	header [mostFrameHeader]byte
	n      int    // bytes of the header that have come
	left   uint64 // bytes of the payload that have not
}

// cost returns what the next bytes of a client count: their number, and more if there are frames that package
// websocket handles by itself, each of which counts as least bytes or its payload.
func (f *framing) cost(p []byte, least int) int {
	cost := len(p)
	for len(p) > 0 {
		if f.left > 0 {
			n := min(f.left, uint64(len(p)))
			f.left -= n
			p = p[n:]
			continue
		}
		f.header[f.n] = p[0]
		f.n++
		p = p[1:]
		if f.n < 2 || f.n < f.headerBytes() {
			continue
		}
		f.n, f.left = 0, f.payload()
		if op := f.header[0] & opMask; op == opContinuation || op >= opControl {
			cost += least - int(min(f.left, uint64(least)))
		}
	}
	return cost
}

// headerBytes returns the length of the header, whose first two bytes have come.
func (f *framing) headerBytes() int {
	n := 2
	switch f.header[1] & lengthMask {
	case 126:
		n += 2
	case 127:
		n += 8
	}
	if f.header[1]&maskBit != 0 {
		n += 4
	}
	return n
}

// payload returns the length that a header says.
func (f *framing) payload() uint64 {
	switch n := f.header[1] & lengthMask; n {
	case 126:
		return uint64(binary.BigEndian.Uint16(f.header[2:]))
	case 127:
		return binary.BigEndian.Uint64(f.header[2:])
	default:
		return uint64(n)
	}
}
