package main

import (
	_ "embed"
	"net/http"

	"github.com/evertick/evertick/internal/page"
)

var (
	//go:embed page.js
	script string
	//go:embed page.css
	style string
)

// newPage returns the page of package inspect, with the twin and the balls.
func newPage() http.HandlerFunc {
	d := page.Inspect("valley")
	d.Wasm, d.Connect = true, "'self' ws:"
	d.Script, d.Style = append(d.Script, script), append(d.Style, style)
	html, policy := d.HTML(), d.Policy()+"; frame-ancestors 'none'"
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Write(html)
	}
}
