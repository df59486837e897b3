// Command build makes one file of a page in which a simulation runs: it compiles a program that calls twin.Run to
// WebAssembly, and puts it into the page of package inspect with all that it needs.
//
//	go run github.com/evertick/evertick/inspect/twin/build -o index.html ./web
//
// It needs Go alone. Any web server may serve the file, and a browser may open it from a disk.
package main

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/base64"
	"flag"
	"fmt"
	"html/template"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evertick/evertick/internal/page"
)

var (
	//go:embed glue.js
	glue string
	//go:embed worker.js
	worker string
	//go:embed twin.css
	style string
)

func main() {
	log.SetFlags(0)
	out := flag.String("o", "index.html", "`file` to write")
	title := flag.String("title", "evertick", "of the page")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(), "usage: build [-o file] [-title title] package\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() != 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := build(*out, *title, flag.Arg(0)); err != nil {
		log.Fatal("build: ", err)
	}
}

// build writes the page of a package to a file.
func build(out, title, pkg string) error {
	wasm, err := compile(pkg)
	if err != nil {
		return err
	}
	packed, err := pack(wasm)
	if err != nil {
		return err
	}
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	runtime, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		return err
	}
	html, err := assemble(title, string(runtime), packed)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(out, html, 0o666); err != nil {
		return err
	}
	fmt.Printf("%s: %.2f MB; the program has %.2f MB, %.2f MB by gzip\n", out, mb(html), mb(wasm), mb(packed))
	return nil
}

func mb(b []byte) float64 { return float64(len(b)) / 1e6 }

// compile returns the program of a package.
func compile(pkg string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "twin")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "twin.wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", file, pkg)
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("go build %s for GOOS=js GOARCH=wasm: %w", pkg, err)
	}
	wasm, err := os.ReadFile(file)
	if err == nil && !bytes.HasPrefix(wasm, []byte("\x00asm")) {
		err = fmt.Errorf("%s is no main package", pkg)
	}
	return wasm, err
}

func pack(data []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return b.Bytes(), err
}

// assemble returns the page: the one of inspect, with the program and the script of its worker as data.
func assemble(title, runtime string, packed []byte) ([]byte, error) {
	script := runtime + "\n" + worker
	if i := strings.Index(strings.ToLower(script), "</script"); i >= 0 || strings.Contains(script, "<!--") {
		return nil, fmt.Errorf("wasm_exec.js cannot be put into a page: it has a tag of HTML")
	}
	d := page.Inspect(title)
	d.Wasm, d.Connect = true, "'self' ws: wss:"
	d.Script = slices.Insert(d.Script, 0, glue)
	d.Style = append(d.Style, style)
	d.Body += template.HTML("<script type=\"text/plain\" id=\"evertick-worker\">" + script + "</script>\n" +
		"<script type=\"text/plain\" id=\"evertick-wasm\">" + base64.StdEncoding.EncodeToString(packed) + "</script>\n")
	return d.HTML(), nil
}
