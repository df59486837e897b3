package httpagent_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"fmt"
	htmltemplate "html/template"
	"log"
	"log/slog"
	"reflect"
	"strings"
	"testing"
	"text/template"

	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/agent/httpagent"
)

// leaks reports whether text contains the key, plain or encoded.
func leaks(text string) bool {
	var bytesOf strings.Builder
	for _, b := range []byte(key) {
		fmt.Fprintf(&bytesOf, "%d ", b)
	}
	octets := strings.TrimSpace(bytesOf.String())
	spaced := fmt.Sprintf("% x", key)
	for _, form := range []string{
		key, hex.EncodeToString([]byte(key)), spaced, octets, strings.ReplaceAll(octets, " ", ", "), strings.ReplaceAll(octets, " ", ","),
		base64.StdEncoding.EncodeToString([]byte(key)), base64.RawURLEncoding.EncodeToString([]byte(key)),
		strings.ReplaceAll(spaced, " ", ", 0x"), strings.ReplaceAll(spaced, " ", " 0x"), strings.ReplaceAll(spaced, " ", "0x"),
	} {
		if strings.Contains(strings.ToLower(text), strings.ToLower(form)) {
			return true
		}
	}
	return false
}

type (
	open   struct{ Key httpagent.Secret }
	closed struct{ key httpagent.Secret }
	both   struct {
		httpagent.Secret
		other httpagent.Secret
	}
	pointers struct {
		Open *httpagent.Secret
		key  *httpagent.Secret
		deep **httpagent.Secret
		down *closed
		p    *httpagent.Provider
		any  any
	}
	lists struct {
		Open  []httpagent.Secret
		keys  []httpagent.Secret
		array [2]httpagent.Secret
		maps  map[string]httpagent.Secret
		anys  map[any]any
	}
	attributed struct {
		XMLName xml.Name         `xml:"settings"`
		Attr    httpagent.Secret `xml:"key,attr"`
		Text    httpagent.Secret `xml:",chardata"`
	}
)

// holders returns everything around a key that a program may print.
func holders(t *testing.T) map[string]any {
	t.Helper()
	k := httpagent.NewSecret(key)
	pk := &k
	c := httpagent.Config{URL: "http://h/v1?key=" + key, Model: "m", Key: k}
	p, err := httpagent.New(c)
	if err != nil {
		t.Fatal(err)
	}
	c.URL = "http://h" // which is not secret in a Config
	config := agent.Config{Providers: []agent.ProviderConfig{{Provider: p}}}
	return map[string]any{
		"Secret": k, "*Secret": pk, "**Secret": &pk, "open": open{k}, "*open": &open{k}, "closed": closed{k}, "*closed": &closed{k},
		"embedded": both{k, k}, "pointers": pointers{pk, pk, &pk, &closed{k}, p, closed{k}}, "*pointers": &pointers{pk, pk, &pk, &closed{k}, p, k},
		"lists": lists{
			[]httpagent.Secret{k}, []httpagent.Secret{k}, [2]httpagent.Secret{k, k},
			map[string]httpagent.Secret{"k": k}, map[any]any{pk: k, 1: &closed{k}},
		},
		"slice": []closed{{k}}, "array": [1]closed{{k}}, "map": map[string]closed{"k": {k}}, "any": []any{k, pk, closed{k}, p},
		"attributed": attributed{Attr: k, Text: k}, "anonymous": struct {
			a struct{ b struct{ c httpagent.Secret } }
		}{},
		"Config": c, "*Config": &c, "closed Config": struct{ c httpagent.Config }{c}, "configs": []*httpagent.Config{&c},
		"Provider": p, "Provider by value": reflect.ValueOf(p).Elem().Interface(), "closed Provider": struct{ p *httpagent.Provider }{p},
		"closed interface": struct{ p agent.Provider }{p}, "Providers": map[string]agent.Provider{"p": p},
		"agent.Config": config, "*agent.Config": &config,
	}
}

// No verb of fmt prints a key, with any flags, nor do the loggers and templates on top of fmt.
func TestSecretPrinted(t *testing.T) {
	var verbs []string
	for _, flags := range []string{"", "+", "#", "-", " ", "0", "+#", "# ", "40.20"} {
		for v := 'a'; v <= 'z'; v++ {
			verbs = append(verbs, "%"+flags+string(v), "%"+flags+strings.ToUpper(string(v)))
		}
	}
	for name, v := range holders(t) {
		for _, verb := range verbs {
			if s := fmt.Sprintf(verb, v); leaks(s) {
				t.Errorf("%s of %s: %s", verb, name, s)
			}
		}
		var b bytes.Buffer
		log.New(&b, "", 0).Print(v)
		for _, h := range []slog.Handler{slog.NewTextHandler(&b, nil), slog.NewJSONHandler(&b, nil)} {
			l := slog.New(h)
			l.Info("x", "v", v)
			l.With("v", v).WithGroup("g").Info("x", slog.Group("deeper", slog.Any("v", v)))
		}
		_ = template.Must(template.New("").Parse("{{.}} {{printf `%#v` .}}")).Execute(&b, v)
		_ = htmltemplate.Must(htmltemplate.New("").Parse("<a href={{.}}><script>{{.}}</script>")).Execute(&b, v)
		fmt.Fprintln(&b, fmt.Errorf("wrapped: %v", v), fmt.Sprint(v), fmt.Sprintln(v, v))
		if leaks(b.String()) {
			t.Errorf("%s: %s", name, &b)
		}
	}
}

// No encoder writes a key. One may refuse.
func TestSecretEncoded(t *testing.T) {
	for name, v := range holders(t) {
		j, _ := json.Marshal(v)
		x, _ := xml.Marshal(v)
		var g, bin bytes.Buffer
		_ = gob.NewEncoder(&g).Encode(v)
		_ = binary.Write(&bin, binary.LittleEndian, v)
		for encoder, data := range map[string][]byte{"json": j, "xml": x, "gob": g.Bytes(), "binary": bin.Bytes()} {
			if leaks(string(data)) {
				t.Errorf("%s of %s: %q", encoder, name, data)
			}
		}
	}
	k := httpagent.NewSecret(key)
	for _, marshal := range []func() ([]byte, error){k.MarshalText, k.MarshalBinary} {
		if data, err := marshal(); err != nil || string(data) != "***" {
			t.Errorf("%q, %v", data, err)
		}
	}
	if j, err := json.Marshal(open{k}); err != nil || string(j) != `{"Key":"***"}` {
		t.Errorf("%s, %v", j, err)
	}
	var g bytes.Buffer
	if err := gob.NewEncoder(&g).Encode(open{k}); err != nil || g.Len() == 0 {
		t.Errorf("gob: %v", err)
	}
	if s := fmt.Sprintf("%v %s %d %#v %q", k, k, k, k, httpagent.Secret{}); s != "*** *** *** *** ***" {
		t.Error(s)
	}
}

// No walk by reflection finds a string or bytes with the key, through any pointers and
// through exported and unexported fields.
func TestSecretReflected(t *testing.T) {
	for name, v := range holders(t) {
		walk(t, name, reflect.ValueOf(v), 0)
	}
	for _, plain := range []any{struct{ s string }{key}, []any{&struct{ b []byte }{[]byte(key)}}} {
		if !reaches(reflect.ValueOf(plain), 0) {
			t.Errorf("the walk does not see the key in %v", plain)
		}
	}
}

func walk(t *testing.T, name string, v reflect.Value, depth int) {
	t.Helper()
	if reaches(v, depth) {
		t.Errorf("the key can be reached in %s", name)
	}
}

func reaches(v reflect.Value, depth int) bool {
	if depth > 12 {
		return false
	}
	switch v.Kind() {
	case reflect.String:
		return leaks(v.String())
	case reflect.Pointer, reflect.Interface:
		return !v.IsNil() && reaches(v.Elem(), depth+1)
	case reflect.Struct:
		for i := range v.NumField() {
			if reaches(v.Field(i), depth+1) {
				return true
			}
		}
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			b := make([]byte, v.Len())
			for i := range b {
				b[i] = byte(v.Index(i).Uint())
			}
			return leaks(string(b))
		}
		for i := range v.Len() {
			if reaches(v.Index(i), depth+1) {
				return true
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if reaches(it.Key(), depth+1) || reaches(it.Value(), depth+1) {
				return true
			}
		}
	}
	return false
}

// A key can be read from settings, but not the stars of one that was written.
func TestSecretDecoded(t *testing.T) {
	var c httpagent.Config
	if err := json.Unmarshal([]byte(`{"URL":"http://h","Model":"m","Key":"`+key+`"}`), &c); err != nil || c.Key.IsZero() {
		t.Errorf("%v: %v", c, err)
	}
	data, err := json.Marshal(c)
	if err != nil || json.Unmarshal(data, &c) == nil {
		t.Errorf("%s: %v; its stars were taken for a key", data, err)
	}
	if err := json.Unmarshal([]byte(`{"Key":""}`), &c); err != nil || !c.Key.IsZero() || !httpagent.NewSecret("").IsZero() {
		t.Errorf("%v: %v", c, err)
	}
}

// Settings without a key can be written and read back; those with one cannot.
func TestSettingsWithoutAKey(t *testing.T) {
	type settings struct {
		URL string
		Key httpagent.Secret
	}
	data, err := json.Marshal(settings{URL: "http://localhost"})
	if err != nil || string(data) != `{"URL":"http://localhost","Key":""}` {
		t.Fatalf("%s, %v", data, err)
	}
	back := settings{Key: httpagent.NewSecret("old")}
	if err := json.Unmarshal(data, &back); err != nil || !back.Key.IsZero() || back.URL != "http://localhost" {
		t.Errorf("%v, %v", back, err)
	}
	var file bytes.Buffer
	if err := gob.NewEncoder(&file).Encode(settings{URL: "u"}); err != nil {
		t.Fatal(err)
	}
	back = settings{}
	if err := gob.NewDecoder(&file).Decode(&back); err != nil || !back.Key.IsZero() || back.URL != "u" {
		t.Errorf("%v, %v", back, err)
	}
	if data, err = json.Marshal(settings{Key: httpagent.NewSecret("k")}); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &back); err == nil {
		t.Error("stars were read as a key")
	}
}
