package httpagent

import (
	"errors"
	"fmt"
	"io"
)

// Secret is a key that cannot be printed. Its methods give stars for every verb of fmt and every encoder. It
// does not hold a string, but a func that returns one. Some code prints a struct field by field without
// calling methods: fmt does so with unexported fields, and debuggers do so by following pointers. Such code
// finds only an address.
//
// The zero Secret is no key. It prints as stars too, and encodes as "", so that settings without a key can be
// written and read back.
//
// A Secret is not comparable; IsZero reports whether there is a key.
type Secret struct{ reveal func() string }

// NewSecret returns a Secret of a key; from "" it makes the zero Secret.
func NewSecret(key string) Secret {
	if key == "" {
		return Secret{}
	}
	return Secret{func() string { return key }}
}

const hidden = "***"

// key returns the key, "" if there is none.
func (s Secret) key() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// IsZero reports whether there is no key.
func (s Secret) IsZero() bool { return s.reveal == nil }

// String implements fmt.Stringer.
func (Secret) String() string { return hidden }

// GoString implements fmt.GoStringer.
func (Secret) GoString() string { return hidden }

// Format implements fmt.Formatter, for verbs such as %x.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// MarshalText implements encoding.TextMarshaler, which the encoders of JSON and XML and log/slog use.
// It gives stars; "" for the zero Secret.
func (s Secret) MarshalText() ([]byte, error) {
	if s.IsZero() {
		return []byte{}, nil
	}
	return []byte(hidden), nil
}

// MarshalBinary implements encoding.BinaryMarshaler, which encoding/gob uses. It is as MarshalText.
func (s Secret) MarshalBinary() ([]byte, error) { return s.MarshalText() }

var errHidden = errors.New("httpagent: the stars of an encoded Secret are not its key")

// UnmarshalText reads a key, say from a file of settings. The stars of an encoded Secret are an
// error: they do not contain the key.
func (s *Secret) UnmarshalText(text []byte) error {
	if string(text) == hidden {
		return errHidden
	}
	*s = NewSecret(string(text))
	return nil
}

// UnmarshalBinary is as UnmarshalText.
func (s *Secret) UnmarshalBinary(data []byte) error { return s.UnmarshalText(data) }
