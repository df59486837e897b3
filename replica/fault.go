package replica

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// Code says why a connection ends. It is an error.
type Code uint8

// The codes of an Error message.
const (
	BadFrame      Code = 1 + iota // the message is malformed
	WrongVersion                  // this version or schema is not supported
	Unauthorized                  // Config.Authorize has refused the client
	TooMany                       // sessions
	TooFast                       // messages or bytes
	TooSlow                       // the client does not read
	Closing                       // the server closes
	Replaced                      // another connection has resumed the session
	InternalFault                 // of the server
)

var codeNames = [...]string{"0", "bad frame", "wrong version", "unauthorized", "too many sessions", "too fast", "too slow", "closing", "replaced", "internal fault"}

// Error implements error.
func (c Code) Error() string {
	if int(c) < len(codeNames) {
		return "replica: " + codeNames[c]
	}
	return fmt.Sprintf("replica: code %d", uint8(c))
}

// appendError appends an Error message. Of a text that is too long it takes as many characters as fit.
func appendError(dst []byte, code Code, text string) []byte {
	text = strings.ToValidUTF8(text[:min(len(text), mostErrorText)], "")
	return append(binary.AppendUvarint(append(dst, kindError, byte(code)), uint64(len(text))), text...)
}

// parseError reads an Error message and returns what it says: an error that wraps its Code.
func parseError(message []byte) error {
	r := messageReader(message, kindError)
	code, text := Code(r.U8()), readText(&r, mostErrorText)
	if code == 0 {
		r.Fail("code", code)
	}
	if err := r.Done(); err != nil {
		return fmt.Errorf("replica: Error: %w", err)
	}
	return fmt.Errorf("%w: %q", code, text)
}
