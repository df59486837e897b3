package guide_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// sized is a program of WebAssembly whose size docs/wasm.md says.
type sized struct {
	row     string // the begin of its line
	source  string // a package, or a page whose first block in Go is the program; else the program itself
	folder  string // of the module
	goos    string
	ldflags string
}

// The sizes that docs/wasm.md says are those of programs that are built now, within 2 %; with -update they become so. Flags of the
// environment do not count.
func TestSizes(t *testing.T) {
	if os.Getenv("EVERTICK_WASM_SIZES") == "" {
		t.Skip("needs EVERTICK_WASM_SIZES=1, as make wasm sets it: it builds five programs")
	}
	needExamples(t)
	const page = "../wasm.md"
	text := read(t, page)
	for _, s := range []sized{
		{"| js/wasm | ", "../../README.md", "../..", "js", ""},
		{"| js/wasm, `-ldflags='-s -w'` | ", "../../README.md", "../..", "js", "-s -w"},
		{"| wasip1/wasm, `-ldflags='-s -w'` | ", "../../README.md", "../..", "wasip1", "-s -w"},
		{"| js/wasm, one line | ", "package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"a line\") }\n", "../..", "js", ""},
		{"The program of [examples/web](../examples/web), ", "./web", "../../examples", "js", ""},
	} {
		data := built(t, s)
		line := regexp.MustCompile("(?m)^" + regexp.QuoteMeta(s.row) + ".*$").FindString(text)
		n := 0
		fresh := regexp.MustCompile(`\d+\.\d\d MB`).ReplaceAllStringFunc(line, func(was string) string {
			said, _ := strconv.ParseFloat(strings.TrimSuffix(was, " MB"), 64)
			is := []func([]byte) float64{func(b []byte) float64 { return float64(len(b)) }, zipped}[min(n, 1)](data) / 1e6
			n++
			if is >= 0.98*said && is <= 1.02*said {
				return was
			}
			if !*update {
				t.Errorf("%s: %q: it has %.2f MB", page, strings.Trim(s.row, " |,")+": "+was, is)
			}
			return fmt.Sprintf("%.2f MB", is)
		})
		if n != 2 {
			t.Errorf("%s has no sizes after %q", page, s.row)
		}
		text = strings.Replace(text, line, fresh, 1)
	}
	if *update && text != read(t, page) {
		if err := os.WriteFile(page, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// built returns the program that go build makes.
func built(t *testing.T, s sized) []byte {
	t.Helper()
	source, out := s.source, filepath.Join(t.TempDir(), "program.wasm")
	if !strings.HasPrefix(source, "./") {
		code := source
		if filepath.Ext(source) == ".md" {
			_, code, _ = strings.Cut(read(t, source), "```go\n")
			code, _, _ = strings.Cut(code, "```")
		}
		source = filepath.Join(t.TempDir(), "main.go")
		if err := os.WriteFile(source, []byte(code), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags="+s.ldflags, "-o", out, source)
	cmd.Dir = s.folder
	cmd.Env = append(os.Environ(), "GOOS="+s.goos, "GOARCH=wasm", "GOFLAGS=", "GOWASM=", "CGO_ENABLED=0")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	data, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func zipped(data []byte) float64 {
	var out bytes.Buffer
	w, _ := gzip.NewWriterLevel(&out, gzip.BestCompression)
	w.Write(data)
	w.Close()
	return float64(out.Len())
}
