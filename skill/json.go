package skill

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth is the maximum nesting of an input, and maxNames the maximum number of names in an object,
// as each is compared with those before it.
const (
	maxDepth = 32
	maxNames = 256
)

var (
	errUTF8      = errors.New("not UTF-8")
	errSyntax    = errors.New("not JSON")
	errObject    = errors.New("not a JSON object")
	errDepth     = fmt.Errorf("nested deeper than %d", maxDepth)
	errEscape    = errors.New("a name contains an escape")
	errDuplicate = errors.New("a name is repeated in an object")
	errNames     = fmt.Errorf("more than %d names in an object", maxNames)
)

// checkJSON refuses input that two parsers could read differently: bytes that are not UTF-8,
// names that are repeated or have escapes, data after the value; and deep nesting. Empty input is the
// empty object.
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

// tooDeep reports whether brackets are nested deeper than maxDepth. Brackets in strings do not count.
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

// stringEnd returns the index of the quote that ends the string whose first quote is at i.
func stringEnd(data []byte, i int) int {
	for i++; i < len(data) && data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return i
}

// checkNames checks the names in valid JSON: the strings before a colon. names has the names of all open
// objects in order; begins has for each object the index of its first name.
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
	d := json.NewDecoder(bytes.NewReader(wholeNumbers(data)))
	d.DisallowUnknownFields()
	err := d.Decode(to)
	if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
		return fmt.Errorf("%s: %s, where %s is expected", cmp.Or(wrong.Field, "input"), wrong.Value, expected(wrong.Type))
	}
	return err
}

// expected describes a Go type as JSON.
func expected(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.Float32, reflect.Float64:
		return fmt.Sprintf("a number that %d bits hold", t.Bits())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return fmt.Sprintf("an integer of %d bits", t.Bits())
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return fmt.Sprintf("an integer of %d bits, not below 0", t.Bits())
	}
	return "an object"
}

const (
	maxDigits   = 20 // of an integer that wholeNumbers writes: as many as the largest uint64 has
	maxExponent = 1 << 10
)

// wholeNumbers returns JSON in which numbers without a fraction, such as 10.0 and 1e2, are written as integers: a JSON
// Schema takes these for integers (2020-12, 6.1.1), and package json does not.
func wholeNumbers(data []byte) []byte {
	var out []byte
	done := 0 // what of data is in out
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			i = stringEnd(data, i)
		case c == '-' || '0' <= c && c <= '9':
			end := i
			for end < len(data) && bytes.IndexByte([]byte("+-.0123456789Ee"), data[end]) >= 0 {
				end++
			}
			if whole := wholeNumber(string(data[i:end])); whole != "" {
				out = append(append(out, data[done:i]...), whole...)
				done = end
			}
			i = end - 1
		}
	}
	if done == 0 {
		return data
	}
	return append(out, data[done:]...)
}

// wholeNumber returns the integer that a number with a point or an exponent is, or nothing.
func wholeNumber(number string) string {
	if !strings.ContainsAny(number, ".Ee") {
		return ""
	}
	mantissa, exponent := number, 0
	if e := strings.IndexAny(number, "Ee"); e >= 0 {
		n, err := strconv.Atoi(number[e+1:])
		if err != nil || n < -maxExponent || n > maxDigits {
			return ""
		}
		mantissa, exponent = number[:e], n
	}
	mantissa, sign := strings.CutPrefix(mantissa, "-")
	before, after, _ := strings.Cut(mantissa, ".")
	digits, point := before+after, len(before)+exponent
	switch whole := min(max(point, 0), len(digits)); {
	case strings.Trim(digits[whole:], "0") != "":
		return ""
	case point > len(digits):
		digits += strings.Repeat("0", point-len(digits))
	default:
		digits = digits[:whole]
	}
	digits = strings.TrimLeft(digits, "0")
	if len(digits) > maxDigits {
		return ""
	}
	if digits == "" {
		digits = "0"
	}
	if sign {
		return "-" + digits
	}
	return digits
}

// quote quotes untrusted text in an error: short, and without control characters.
func quote(s string) string { return fmt.Sprintf("%.60q", s) }

// shorten returns the text of the error of a decoder, which may quote its input, up to a limit.
func shorten(err error) string {
	s := strings.ToValidUTF8(err.Error(), "?")
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + " …"
	}
	return s
}
