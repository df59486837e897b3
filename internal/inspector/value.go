package inspector

import (
	"bytes"
	"encoding/json"
	"strconv"

	"github.com/evertick/evertick/internal/columns"
)

// value is a number in an answer, in the shortest form that identifies it. An integer beyond 2^53 in magnitude, which
// the float64 of a page would round, a NaN and an infinity are strings. nil is null.
type value []byte

func (v value) MarshalJSON() ([]byte, error) {
	if v == nil {
		return []byte("null"), nil
	}
	return v, nil
}

// appendNumber appends the i-th number of mem, which is in the byte order of the machine.
func appendNumber(dst []byte, k columns.Kind, mem []byte, i int) []byte {
	at := len(dst)
	return quoteInexact(k.AppendText(append(dst, '"'), mem, i), at)
}

func numberAt(k columns.Kind, mem []byte, i int) value { return appendNumber(nil, k, mem, i) }

// single and double return the numbers of floats.
func single(v float32) value { return float(float64(v), 32) }
func double(v float64) value { return float(v, 64) }

func singles(list []float32) []value {
	all := make([]value, len(list))
	for i, v := range list {
		all[i] = single(v)
	}
	return all
}

func float(v float64, bits int) value {
	return quoteInexact(strconv.AppendFloat([]byte{'"'}, v, 'g', -1, bits), 0)
}

// quoteInexact makes JSON of the decimal number after the quote at an index: it adds the second quote, or removes the
// first one.
func quoteInexact(dst []byte, at int) []byte {
	text := dst[at+1:]
	if notFinite := text[len(text)-1] > '9'; notFinite || beyondExact(text) {
		return append(dst, '"')
	}
	return append(dst[:at], text...)
}

// beyondExact reports whether text is an integer of which a float64 does not hold all digits.
func beyondExact(text []byte) bool {
	const most = "9007199254740992" // 2^53
	digits := bytes.TrimPrefix(text, []byte{'-'})
	return len(digits) >= len(most) && !bytes.ContainsAny(digits, ".e") && (len(digits) > len(most) || string(digits) > most)
}

// encode returns the JSON of an answer. Its types always have one.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("inspector: an answer without JSON")
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}
