// Package page assembles web pages that consist of one document: style and script are in it, it requests no other
// file, and its policy admits its own script by hash. The page of inspect is one.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"html/template"
	"strings"

	"github.com/evertick/evertick/internal/page/base"
)

var (
	//go:embed inspect
	inspectFiles embed.FS

	document = template.Must(template.New("document").Parse(`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{{.Policy}}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{{.Title}}</title>
<link rel="icon" href="data:,">
<style>{{.JoinedStyle}}</style>
{{.Head}}</head>
<body>
{{.Body}}<div id="tip" hidden></div>
<script>{{.JoinedScript}}</script>
</body>
</html>
`))
)

// Document is a page. The base style and the base script come first.
type Document struct {
	Title  string
	Style  []string      // sheets
	Script []string      // plain scripts, which share one scope; none contains "</script" or "<!--"
	Head   template.HTML // at the end of the head
	Body   template.HTML

	Connect string // the sources of a policy that the script may connect to, such as "'self'"; "": none
	Wasm    bool   // the script may compile WebAssembly and start workers from its own blobs
}

// Inspect returns the page of a simulation. Its script asks the path at which the page is, or, if a script before its own
// sets window.evertickTwin, a worker in the page.
func Inspect(title string) *Document {
	d := &Document{Title: title, Connect: "'self'", Body: template.HTML(inspectFile("index.html")), Style: []string{inspectFile("inspect.css")}}
	for _, name := range inspectScripts {
		d.Script = append(d.Script, inspectFile(name))
	}
	return d
}

// inspectScripts is the order of the scripts of inspect: app.js, which starts the page, is the last.
var inspectScripts = []string{
	"source.js", "frame.js", "matrix.js", "camera.js", "orbit.js", "solids.js", "layers.js", "layers3.js", "overlay.js", "controls.js", "view.js", "view3.js", "text.js", "grid.js", "timeline.js", "entities.js", "columns.js", "systems.js", "events.js", "trace.js", "queues.js",
	"diff.js", "twin.js", "app.js",
}

func inspectFile(name string) string {
	text, err := inspectFiles.ReadFile("inspect/" + name)
	if err != nil {
		panic("page: a file of the page of inspect is not embedded")
	}
	return string(text)
}

// HTML returns the document.
func (d *Document) HTML() []byte {
	var b bytes.Buffer
	if err := document.Execute(&b, d); err != nil {
		panic("page: the document cannot be written")
	}
	return b.Bytes()
}

// Policy returns the policy of the document, which is in it, as the value of the header Content-Security-Policy.
func (d *Document) Policy() string {
	sum := sha256.Sum256([]byte(d.JoinedScript()))
	policy := base.Policy(base64.StdEncoding.EncodeToString(sum[:]))
	if d.Wasm {
		policy = strings.Replace(policy, "script-src ", "script-src 'wasm-unsafe-eval' ", 1) + "; worker-src blob:"
	}
	if d.Connect != "" {
		policy += "; connect-src " + d.Connect
	}
	return policy
}

// JoinedStyle is what the style element of the document holds.
func (d *Document) JoinedStyle() template.CSS { return base.Style(d.Style...) }

// JoinedScript is what the script element of the document holds.
func (d *Document) JoinedScript() template.JS { return base.Script(d.Script...) }
