// Package base has the style sheet and the script that all pages share: colours and themes, formats of figures, charts. The report of
// bench/profile and the pages of package page use them. It links no hash function, so programs that only write reports build faster.
package base

import (
	_ "embed"
	"html/template"
	"strings"
)

var (
	//go:embed base.css
	style string
	//go:embed base.js
	script string
)

// Style joins sheets to one, after the base.
func Style(sheets ...string) template.CSS {
	return template.CSS(style + "\n" + strings.Join(sheets, "\n"))
}

// Script joins scripts to one of a scope of its own, after the base.
func Script(scripts ...string) template.JS {
	return template.JS("\"use strict\";\n(() => {\n" + script + "\n" + strings.Join(scripts, "\n") + "})();\n")
}

// Policy returns a policy that admits one script, styles in the document and no request. sum is the SHA-256 of the script in base64.
func Policy(sum string) string {
	return "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + sum + "'; img-src data:; base-uri 'none'; form-action 'none'"
}
