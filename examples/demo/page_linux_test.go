package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/browser"
)

// The page shows the world and, once it is built, the hashes of its twin, which are those of the server. It goes back in the log and to the
// present again. It is legible on phones and on wide screens, in both themes.
func TestPage(t *testing.T) {
	p := browser.StartGL(t, "the demo")
	alone, err := build(t.Context(), "./web") // now, so that it takes little time below
	if err != nil {
		t.Fatal(err)
	}
	addr, end := start(t, settings{seed: 1, log: filepath.Join(t.TempDir(), "log"), twin: "./web"})
	p.Resize(1440, 900)
	p.Open("http://" + addr + "/")
	p.Wait(`evertickPage.app.tick > 30`)
	p.Wait(`/^[0-9a-f]{16} = at [0-9,]+$/.test(document.querySelector("#demo-twin").textContent)`)
	if text := p.Text(`document.querySelector("#demo-twin").parentElement.innerText`); !strings.Contains(text, " equal tick") {
		t.Error(text)
	}

	p.Click("#world3") // throws a ball
	p.Key("l", 0)
	p.Wait(`evertickPage.app.of === "log" && evertickPage.app.tick > 0`)
	p.Key("l", 0)
	p.Wait(`evertickPage.app.of === "live"`)

	for _, width := range []int{1440, 390} {
		for _, theme := range []string{"light", "dark"} {
			p.Resize(width, 900)
			p.Theme(theme)
			p.Settle()
			name := fmt.Sprintf("demo-%d-%s", width, theme)
			p.Screenshot(name)
			if bad := p.Illegible(20); bad != "" {
				t.Errorf("%s: %s", name, bad)
			}
		}
	}
	checkAlone(t, p, alone)
	for _, problem := range p.Problems() {
		if !strings.Contains(problem, "GPU stall") {
			t.Errorf("the page reports %s", problem)
		}
	}
	if report := end(); !strings.Contains(report, " 1 balls thrown") {
		t.Error(report)
	}
}

// checkAlone opens the world as one file, in which it runs by itself in WebAssembly: in three dimensions, with the forces on a brick that is clicked.
func checkAlone(t *testing.T, p *browser.Page, file []byte) {
	p.Resize(900, 600)
	p.Open(p.File("valley.html", file))
	p.Wait(`window.evertickPage?.app.tick > 3 && evertickPage.view3?.stats.drawMs.length > 1 && !evertickPage.view3.missing()`)
	p.Do(`await evertickPage.view3.look({ target: [4, 4, 0], yaw: 0.7, pitch: 0.2, distance: 16 })`)
	p.Click("#world3")
	p.Wait(`/weight [0-9.,]+ N.*contacts [0-9.,]+ N/s.test(document.querySelector("#space .world-forces").innerText)`)
	p.Screenshot("demo-alone")
}

// The picture of the README: docs/images/demo.png, with a tower that falls.
func TestPicture(t *testing.T) {
	if os.Getenv("EVERTICK_SCREENSHOTS") == "" {
		t.Skip("not run: EVERTICK_SCREENSHOTS names no folder")
	}
	p := browser.StartGL(t, "the demo")
	addr, _ := start(t, settings{seed: 1, log: filepath.Join(t.TempDir(), "log"), twin: "./web"})
	p.Theme("light")
	p.Resize(1280, 720)
	p.Open("http://" + addr + "/")
	p.Do(`document.querySelector("#main").style.setProperty("--share", "22%");`)
	p.Wait(`/ = at /.test(document.querySelector("#demo-twin").textContent)`)
	p.Wait(`evertickPage.app.tick % 1920 > 850`) // the tower stands
	p.Do(`for (const y of [2.5, 5, 7]) evertickPage.source.post("throw", { origin: [30, 22, 35], direction: [-26, y - 22, -35] });`)
	p.Do(`window.at = evertickPage.app.tick + 14;`)
	p.Wait(`evertickPage.app.tick > window.at + 60`) // the log has it
	p.Do(`evertickPage.app.timeline.goTo(window.at);`)
	p.Wait(`evertickPage.app.of === "log" && evertickPage.app.tick === window.at`)
	p.Do(`evertickPage.view3.look({ target: [9, 2, 2], distance: 44 });`)
	p.Settle()
	p.Screenshot("demo")
}
