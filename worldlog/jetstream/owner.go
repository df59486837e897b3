package jetstream

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ownerName is a file beside a log that says as which owner it ships: 32 hexadecimal digits.
const ownerName = "SHIPPER"

// ownerOf returns the owner that the log in dir ships as, which it makes if there is none.
func ownerOf(dir string) (o owner, err error) {
	name := filepath.Join(dir, ownerName)
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		rand.Read(o[:])
		return o, writeOwner(name, hex.EncodeToString(o[:]))
	}
	if err == nil {
		if _, e := hex.Decode(o[:], text[:min(len(text), 2*ownerSize)]); e != nil || len(text) != 2*ownerSize {
			err = fmt.Errorf("%s: %w", name, ErrCorrupt)
		}
	}
	if err != nil {
		return o, fmt.Errorf("jetstream: %w", err)
	}
	return o, nil
}

// writeOwner writes the file so that a crash leaves all of it or nothing.
func writeOwner(name, text string) error {
	f, err := os.Create(name + ".tmp")
	if err == nil {
		_, err = f.WriteString(text)
		err = errors.Join(err, f.Sync(), f.Close())
	}
	if err == nil {
		err = os.Rename(name+".tmp", name)
	}
	if err != nil {
		return fmt.Errorf("jetstream: %w", err)
	}
	return nil
}
