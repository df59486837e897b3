package main

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"regexp"
	"strings"
	"testing"
)

// The page holds the program, and its policy admits one script, a worker from its own data and the connections of a user.
func TestAssemble(t *testing.T) {
	program := bytes.Repeat([]byte("\x00asm, as it were. "), 1000)
	packed, err := pack(program)
	if err != nil {
		t.Fatal(err)
	}
	html, err := assemble("my game", "globalThis.Go = class {};", packed)
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`id="evertick-wasm">([^<]*)</script>`).FindSubmatch(html)
	if text == nil {
		t.Fatal("no program in the page")
	}
	got, err := base64.StdEncoding.DecodeString(string(text[1]))
	if err != nil {
		t.Fatal(err)
	}
	r, err := gzip.NewReader(bytes.NewReader(got))
	if err != nil {
		t.Fatal(err)
	}
	if got, err = io.ReadAll(r); err != nil || !bytes.Equal(got, program) {
		t.Errorf("%d bytes of %d, %v", len(got), len(program), err)
	}
	plain := strings.ReplaceAll(string(html), "&#39;", "'")
	for _, want := range []string{"<title>my game</title>", "worker-src blob:", "connect-src 'self' ws: wss:", "'wasm-unsafe-eval'", "evertickTwin"} {
		if !strings.Contains(plain, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
	if policy := regexp.MustCompile(`script-src [^;]*`).FindString(plain); strings.Contains(policy, "unsafe-inline") || strings.Count(policy, "sha256-") != 1 {
		t.Error(policy)
	}
	if _, err := assemble("x", "const tag = '</SCRIPT>';", packed); err == nil {
		t.Error("a script that would end its element was taken")
	}
}

func TestCompileFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("not run: go build")
	}
	for _, pkg := range []string{"./nowhere", "github.com/evertick/evertick/internal/wire"} {
		if _, err := compile(pkg); err == nil || !strings.Contains(err.Error(), pkg) {
			t.Errorf("%s: %v", pkg, err)
		}
	}
}
