package skill

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"unicode/utf8"
)

// oracleJSON is checkJSON written plainly, by the tokens of encoding/json.
func oracleJSON(data []byte) bool {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return true
	}
	if !utf8.Valid(data) || data[0] != '{' || !json.Valid(data) {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	_, err := d.Token()
	return err == nil && oracleInside(d, data, true, 1)
}

func oracleInside(d *json.Decoder, data []byte, object bool, depth int) bool {
	if depth > maxDepth {
		return false
	}
	names := map[string]bool{}
	for d.More() {
		if object {
			from := d.InputOffset()
			name, err := d.Token()
			raw := data[from:d.InputOffset()]
			if err == io.EOF || err != nil || names[name.(string)] || bytes.IndexByte(raw, '\\') >= 0 || len(names) == maxNames {
				return false
			}
			names[name.(string)] = true
		}
		v, err := d.Token()
		if err != nil || v == json.Delim('{') && !oracleInside(d, data, true, depth+1) || v == json.Delim('[') && !oracleInside(d, data, false, depth+1) {
			return false
		}
	}
	_, err := d.Token()
	return err == nil
}

var jsonCases = []string{
	"", " ", "{}", "[]", "null", `"a"`, `{"a":1}`, `{"a":1,"a":2}`, `{"a":1,"b":{"a":2}}`, `{"b":{"a":2,"a":3}}`, `{"b":[{"a":2},{"a":3}]}`,
	`{"a":"a","b":"a"}`, `{"a":["a","a"],"b":"a\"b:","c":"\\"}`, "{\"a\" \n:1,\"a\"\t:2}", `{"\u0061":1}`, `{"a":"\u0061"}`, `{"a\"":1}`,
	`{"a":1} `, `{"a":1}{}`, `{"a":1`, `{"a":}`, `{"a":"{[{["}`, `{"a":{"b":1},"b":2,"a":3}`, "{\"a\":\"\xff\"}", `{"a":01}`, `{"a":1e999}`,
	strings.Repeat(`{"a":`, maxDepth-1) + "{}" + strings.Repeat("}", maxDepth-1),
	strings.Repeat(`{"a":`, maxDepth) + "{}" + strings.Repeat("}", maxDepth),
	`{"a":` + strings.Repeat("[", maxDepth-1) + strings.Repeat("]", maxDepth-1) + "}",
	`{"a":` + strings.Repeat("[", maxDepth) + strings.Repeat("]", maxDepth) + "}",
	manyNames(maxNames), manyNames(maxNames + 1),
}

func manyNames(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"n%d":0`, i)
	}
	return "{" + b.String()[1:] + "}"
}

func TestCheckJSON(t *testing.T) {
	for _, c := range jsonCases {
		if _, err := checkJSON([]byte(c)); (err == nil) != oracleJSON([]byte(c)) {
			t.Errorf("%.100q: %v, the oracle says %v", c, err, oracleJSON([]byte(c)))
		}
	}
	for c, want := range map[string]error{
		`{"a":1,"a":2}`: errDuplicate, `{"\u0061":1}`: errEscape, "[]": errObject, `{"a":}`: errSyntax, "{\"\xff\":1}": errUTF8,
		strings.Repeat(`{"a":`, 1<<16): errDepth,
	} {
		if _, err := checkJSON([]byte(c)); !errors.Is(err, want) {
			t.Errorf("%.100q: %v, want %v", c, err, want)
		}
	}
}

func FuzzCheckJSON(f *testing.F) {
	for _, c := range jsonCases {
		f.Add([]byte(c))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if _, err := checkJSON(data); (err == nil) != oracleJSON(data) {
			t.Fatalf("%v, the oracle says %v", err, oracleJSON(data))
		}
	})
}
