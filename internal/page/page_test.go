package page

import (
	"html"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/page/base"
)

// The order of the scripts names each script of the page of inspect once.
func TestScriptsOfInspect(t *testing.T) {
	found, err := fs.Glob(inspectFiles, "inspect/*.js")
	if err != nil {
		t.Fatal(err)
	}
	for i := range found {
		found[i] = strings.TrimPrefix(found[i], "inspect/")
	}
	listed := slices.Sorted(slices.Values(inspectScripts))
	if !slices.Equal(found, listed) {
		t.Errorf("the folder has %q, the order has %q", found, listed)
	}
}

// Scripts share one scope: a name that two of them declare would silently be that of the later one.
func TestNamesOfScripts(t *testing.T) {
	declaration := regexp.MustCompile(`(?m)^(?:async )?(?:function\*?|const|let|class) (\w+)`)
	where := map[string]string{}
	declare := func(file, text string) {
		for _, m := range declaration.FindAllStringSubmatch(text, -1) {
			if other, ok := where[m[1]]; ok {
				t.Errorf("%s and %s declare %s", other, file, m[1])
			}
			where[m[1]] = file
		}
	}
	declare("base.js", string(base.Script()))
	for _, name := range inspectScripts {
		declare(name, inspectFile(name))
	}
	if where["chart"] != "base.js" || where["newSource"] != "source.js" {
		t.Error("declarations are not found")
	}
}

func TestSyntaxOfScripts(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("not run: node is not installed")
	}
	path := filepath.Join(t.TempDir(), "page.js")
	if err := os.WriteFile(path, []byte(Inspect("").JoinedScript()), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(node, "--check", path).CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// The document has its script and its style as they were given, its own policy and its title as text; nothing in it
// names another file.
func TestInspectDocument(t *testing.T) {
	d := Inspect(`</title><script>hostile()</script>"'&`)
	text := string(d.HTML())
	for _, want := range []string{
		"<script>" + string(d.JoinedScript()) + "</script>", "<style>" + string(d.JoinedStyle()) + "</style>",
		"<title>&lt;/title&gt;&lt;script&gt;hostile()&lt;/script&gt;", `<canvas id="world"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the document lacks %.60q", want)
		}
	}
	if n := strings.Count(text, "</script"); n != 1 {
		t.Errorf("%d scripts end in it", n)
	}
	if m := regexp.MustCompile(`Content-Security-Policy" content="([^"]*)"`).FindStringSubmatch(text); m == nil || html.UnescapeString(m[1]) != d.Policy() {
		t.Errorf("the document has the policy %q, not %q", m, d.Policy())
	}
	for _, bad := range []string{"https:", "//cdn", "url(", "@import", "ZgotmplZ", "<!--", " onclick="} {
		if strings.Contains(text, bad) {
			t.Errorf("%q is in it", bad)
		}
	}
	if strings.Count(text, "http:") != strings.Count(text, "http://www.w3.org/2000/svg") {
		t.Error("an address is in it")
	}
}

func TestPolicy(t *testing.T) {
	d := &Document{Script: []string{"start();"}}
	own := regexp.MustCompile(`^default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-[\w+/]{43}='; img-src data:; base-uri 'none'; form-action 'none'$`)
	if !own.MatchString(d.Policy()) {
		t.Errorf("%q", d.Policy())
	}
	other := &Document{Script: []string{"start() ;"}}
	if d.Policy() == other.Policy() {
		t.Error("two scripts have one policy")
	}
	d.Wasm, d.Connect = true, "ws: wss:"
	for _, want := range []string{"default-src 'none'; ", "script-src 'wasm-unsafe-eval' 'sha256-", "; worker-src blob:", "; connect-src ws: wss:"} {
		if !strings.Contains(d.Policy(), want) {
			t.Errorf("%q lacks %q", d.Policy(), want)
		}
	}
}
