package guide_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the snippets of the pages anew from the code")

// Pages show code that the tests run. A comment above a block of a page says where it is from:
//
//	<!-- program world_test.go -->       the whole file, as a program: its Example is main
//	<!-- output world_test.go -->        what that Example prints
//	<!-- snippet world_test.go#spawn --> what is between "guide:begin spawn" and "guide:end"
//	<!-- file testdata/a/main.go -->     the whole file
//	<!-- shell -->                       commands, which no test runs
var block = regexp.MustCompile("(?m)^<!-- (\\w+) ?(\\S*) -->\n```(\\w*)\n((?s:.*?))^```$")

// bare finds comments of that kind with no block after them, and the line that comes instead.
var bare = regexp.MustCompile("(?m)^[ \\t]*(<!--.*-->)[ \\t]*\n([^`\n].*|``?[^`].*|)$")

func pages(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob("*.md")
	if err != nil || len(all) == 0 {
		t.Fatalf("%d pages, %v", len(all), err)
	}
	return append(all, "../physics3.md") // a page beside the guide, whose programs are here
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// needExamples skips a test where the module of the examples is not there, as in a download
// of this one.
func needExamples(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("../../examples/README.md"); errors.Is(err, fs.ErrNotExist) {
		t.Skip("not run: the folder examples is not there")
	}
}

// Every block of every page is what the tests run; with -update it becomes so.
func TestPages(t *testing.T) {
	needExamples(t)
	for _, page := range pages(t) {
		text := read(t, page)
		if *update {
			text = bare.ReplaceAllString(text, "$1\n```\n```\n$2")
		}
		fresh := block.ReplaceAllStringFunc(text, func(was string) string {
			m := block.FindStringSubmatch(was)
			want, language, err := source(m[1], m[2], m[4])
			if err != nil {
				t.Errorf("%s: %v", page, err)
				return was
			}
			return fmt.Sprintf("<!-- %s -->\n```%s\n%s```", strings.TrimSpace(m[1]+" "+m[2]), language, want)
		})
		for _, m := range bare.FindAllStringSubmatch(text, -1) {
			t.Errorf("%s: no block with ``` comes after %s; with -update it does", page, m[1])
		}
		if fences := strings.Count("\n"+text, "\n```"); fences != 2*len(block.FindAllString(text, -1)) {
			t.Errorf("%s: %d lines with ```, but %d blocks with a comment above that says where they are from", page, fences, len(block.FindAllString(text, -1)))
		}
		if fresh == read(t, page) {
			continue
		}
		if !*update {
			t.Errorf("%s differs from the code; go test ./docs/guide -update writes it anew", page)
			continue
		}
		if err := os.WriteFile(page, []byte(fresh), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// source returns what a block has to say, and its language.
func source(kind, from, is string) (text, language string, err error) {
	if kind == "shell" {
		return is, "sh", nil
	}
	file, name, _ := strings.Cut(from, "#")
	code, err := os.ReadFile(file)
	if err != nil {
		return "", "", err
	}
	switch kind {
	case "file":
		return string(code), map[string]string{".go": "go", ".py": "python"}[filepath.Ext(file)], nil
	case "program":
		text, err = program(string(code))
		return text, "go", err
	case "output":
		text, err = output(string(code))
		return text, "text", err
	case "snippet":
		text, err = snippet(string(code), name)
		return text, "go", err
	}
	return "", "", fmt.Errorf("unknown kind of block %q", kind)
}

var (
	example  = regexp.MustCompile(`(?m)^func Example\w*\(\) \{$`)
	expected = regexp.MustCompile(`(?m)\n*^\t// Output:\n((?:\t//.*\n)*)`)
	packaged = regexp.MustCompile(`(?m)^package \w+_test$`)
	marker   = regexp.MustCompile(`(?m)^[ \t]*// guide:(?:begin \S+|end)\n(?:\n)?`)
)

// program makes a program of a file with one example.
func program(code string) (string, error) {
	if len(example.FindAllString(code, -1)) != 1 || !expected.MatchString(code) {
		return "", errors.New("the file has not one Example with an output")
	}
	code = packaged.ReplaceAllString(code, "package main")
	code = example.ReplaceAllString(code, "func main() {")
	code = expected.ReplaceAllString(code, "\n")
	return marker.ReplaceAllString(code, ""), nil
}

// output returns what the example of a file prints.
func output(code string) (string, error) {
	m := expected.FindStringSubmatch(code)
	if m == nil {
		return "", errors.New("the file has no output")
	}
	return regexp.MustCompile(`(?m)^\t// ?`).ReplaceAllString(m[1], ""), nil
}

// snippet returns a part of a file, moved to the left as far as its first line goes.
func snippet(code, name string) (string, error) {
	part := regexp.MustCompile(`(?m)^[ \t]*// guide:begin `+regexp.QuoteMeta(name)+`\n+((?s:.*?))\n*^[ \t]*// guide:end$`).FindAllStringSubmatch(code, -1)
	if len(part) != 1 {
		return "", fmt.Errorf("%d parts begin with guide:begin %s", len(part), name)
	}
	lines := strings.Split(part[0][1], "\n")
	indent := lines[0][:len(lines[0])-len(strings.TrimLeft(lines[0], "\t"))]
	for i, line := range lines {
		lines[i] = strings.TrimPrefix(line, indent)
	}
	return strings.Join(lines, "\n") + "\n", nil
}

// What is marked for a page is on one, and every program of this folder is.
func TestMarked(t *testing.T) {
	needExamples(t)
	var all strings.Builder
	for _, page := range pages(t) {
		all.WriteString(read(t, page))
	}
	files, _ := filepath.Glob("*_test.go")
	for _, pattern := range []string{"../../examples/*/*.go", "../../examples/*/*/*.go"} {
		more, _ := filepath.Glob(pattern)
		files = append(files, more...)
	}
	begin := regexp.MustCompile(`(?m)^[ \t]*// guide:begin (\S+)$`)
	for _, file := range files {
		file = filepath.ToSlash(file)
		code := read(t, file)
		marks := begin.FindAllStringSubmatch(code, -1)
		for _, m := range marks {
			if where := file + "#" + m[1] + " -->"; !strings.Contains(all.String(), "<!-- snippet "+where) {
				t.Errorf("%s is on no page", where)
			}
		}
		if example.MatchString(code) && len(marks) == 0 && !strings.HasPrefix(file, "..") && !strings.Contains(all.String(), "<!-- program "+file+" -->") {
			t.Errorf("%s is on no page", file)
		}
	}
}

// Links between pages, and to files of the repository, lead somewhere.
func TestLinks(t *testing.T) {
	needExamples(t)
	link := regexp.MustCompile(`\]\(([^)#]+)(#[^)]*)?\)`)
	code := regexp.MustCompile("(?s)```.*?```|`[^`\n]*`")
	for _, page := range append(pages(t), "../README.md", "../../README.md", "../features.md", "../figures.md", "../operations.md", "../architecture.md", "../solver.md",
		"../determinism.md", "../migrating-from-box2d.md", "../migrating-from-box3d.md", "../../examples/README.md") {
		for _, m := range link.FindAllStringSubmatch(code.ReplaceAllString(read(t, page), ""), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s: %v", page, err)
			}
		}
	}
}

// The machinery itself.
func TestSource(t *testing.T) {
	const code = "package guide_test\n\nimport \"fmt\"\n\nfunc Example_x() {\n\t// guide:begin a\n\tif true {\n\t\tfmt.Println(1)\n\t}\n\t// guide:end\n\n\t// Output:\n\t// 1\n\t//\n\t// 2\n}\n"
	for _, c := range []struct {
		name, want string
		of         func(string) (string, error)
	}{
		{"program", "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tif true {\n\t\tfmt.Println(1)\n\t}\n}\n", program},
		{"output", "1\n\n2\n", output},
		{"snippet", "if true {\n\tfmt.Println(1)\n}\n", func(code string) (string, error) { return snippet(code, "a") }},
	} {
		if got, err := c.of(code); got != c.want || err != nil {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
	if _, err := snippet(code, "b"); err == nil {
		t.Error("a snippet that is not there gives no error")
	}
	if _, err := program("package guide_test\n"); err == nil {
		t.Error("a file without an example gives a program")
	}
	for text, want := range map[string]int{
		"<!-- snippet a#b -->\n```go\nx\n```\n": 0, "<!-- snippet a#b -->\n\n```go\nx\n```\n": 1, "<!-- output a -->\ntext\n": 1,
		"a\n\n<!-- shell -->\n`x`\n": 1, "<!-- shell -->\n": 1, " <!-- snippet a#b -->\n\n<!-- snippet a#c -->\n": 2,
	} {
		if got := bare.FindAllString(text, -1); len(got) != want {
			t.Errorf("%q: %d comments without a block: %q, want %d", text, len(got), got, want)
		}
	}
	if got := block.FindAllString("<!-- snippet a#b -->\n```go\nx\n```\n\n```go\ny\n```\n", -1); len(got) != 1 {
		t.Errorf("blocks: %q", got)
	}
}
