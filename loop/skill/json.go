package skill

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds how deep an input may be nested.
const maxDepth = 32

var (
	errUTF8      = errors.New("not UTF-8")
	errDuplicate = errors.New("a name stands twice in an object")
	errDepth     = fmt.Errorf("nested deeper than %d", maxDepth)
	errTrailing  = errors.New("more than one JSON value")
	errObject    = errors.New("not a JSON object")
)

// checkJSON refuses what two readers could understand differently: bytes that are no UTF-8,
// names that stand twice, something behind the value, and nesting that nobody needs. No input
// at all is the empty object.
func checkJSON(data []byte) ([]byte, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return []byte("{}"), nil
	}
	if !utf8.Valid(data) {
		return nil, errUTF8
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	first, err := d.Token()
	if err != nil {
		return nil, err
	}
	if first != json.Delim('{') {
		return nil, errObject
	}
	if err := checkInside(d, true, 1); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errTrailing
	}
	return data, nil
}

// checkInside reads up to the end of an object or an array.
func checkInside(d *json.Decoder, object bool, depth int) error {
	if depth > maxDepth {
		return errDepth
	}
	var names map[string]bool
	for d.More() {
		if object {
			name, err := d.Token()
			if err != nil {
				return err
			}
			if names == nil {
				names = map[string]bool{}
			}
			key, _ := name.(string)
			if names[key] {
				return errDuplicate
			}
			names[key] = true
		}
		v, err := d.Token()
		if err != nil {
			return err
		}
		if v == json.Delim('{') || v == json.Delim('[') {
			if err := checkInside(d, v == json.Delim('{'), depth+1); err != nil {
				return err
			}
		}
	}
	_, err := d.Token()
	return err
}

// strict decodes an object that checkJSON has passed.
func strict(data []byte, to any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(to)
}

// quoted is for text of strangers in errors: short, and without control characters.
func quoted(s string) string { return fmt.Sprintf("%.60q", s) }

// short cuts an error of a decoder, which may quote what it was given.
func short(err error) string {
	s := strings.ToValidUTF8(err.Error(), "?")
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + " …"
	}
	return s
}
