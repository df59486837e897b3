package skill

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds how deep an input may be nested, and maxNames how many names an object may have:
// each is compared with those before it.
const (
	maxDepth = 32
	maxNames = 256
)

var (
	errUTF8      = errors.New("not UTF-8")
	errSyntax    = errors.New("not JSON")
	errObject    = errors.New("not a JSON object")
	errDepth     = fmt.Errorf("nested deeper than %d", maxDepth)
	errEscape    = errors.New("a name with an escape")
	errDuplicate = errors.New("a name stands twice in an object")
	errNames     = fmt.Errorf("more than %d names in an object", maxNames)
)

// checkJSON refuses what two readers could understand differently: bytes that are no UTF-8,
// names that stand twice or hide behind escapes, something behind the value; and nesting that
// nobody needs. No input at all is the empty object.
func checkJSON(data []byte) ([]byte, error) {
	data = bytes.TrimSpace(data)
	switch {
	case len(data) == 0:
		return []byte("{}"), nil
	case !utf8.Valid(data):
		return nil, errUTF8
	case data[0] != '{':
		return nil, errObject
	case tooDeep(data):
		return nil, errDepth
	case !json.Valid(data):
		return nil, errSyntax
	}
	return data, checkNames(data)
}

// tooDeep tells before anybody reads them in earnest. Brackets in strings do not count.
func tooDeep(data []byte) bool {
	depth := 0
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			i = stringEnd(data, i)
		case '{', '[':
			if depth++; depth > maxDepth {
				return true
			}
		case '}', ']':
			depth--
		}
	}
	return false
}

// stringEnd returns where the string that begins at i ends: at its second quote.
func stringEnd(data []byte, i int) int {
	for i++; i < len(data) && data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return i
}

// checkNames looks at the names in valid JSON: the strings before a colon. Those of the objects
// that are open stand one behind the other in names, from begins on.
func checkNames(data []byte) error {
	var names [][]byte
	var begins []int
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '{':
			begins = append(begins, len(names))
		case '}':
			last := len(begins) - 1
			names, begins = names[:begins[last]], begins[:last]
		case '"':
			end := stringEnd(data, i)
			name := data[i+1 : end]
			i = end
			if !colonFollows(data[end+1:]) {
				continue
			}
			if bytes.IndexByte(name, '\\') >= 0 {
				return errEscape
			}
			for _, other := range names[begins[len(begins)-1]:] {
				if bytes.Equal(name, other) {
					return errDuplicate
				}
			}
			if len(names)-begins[len(begins)-1] == maxNames {
				return errNames
			}
			names = append(names, name)
		}
	}
	return nil
}

func colonFollows(rest []byte) bool {
	rest = bytes.TrimLeft(rest, " \t\r\n")
	return len(rest) > 0 && rest[0] == ':'
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
