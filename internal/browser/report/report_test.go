package report_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/browser"
)

// written returns the reports that the tests of bench/profile write for these tests: files by name.
func written(t *testing.T) map[string]string {
	t.Helper()
	dir, files := t.TempDir(), map[string]string{}
	cmd := exec.Command("go", "test", "-count=1", "-run=^TestPages$", "github.com/evertick/evertick/bench/profile")
	cmd.Env = append(os.Environ(), "EVERTICK_PAGES="+dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	found, err := filepath.Glob(dir + "/*.html")
	if err != nil || len(found) == 0 {
		t.Fatalf("no reports: %v", err)
	}
	for _, file := range found {
		files[strings.TrimSuffix(filepath.Base(file), ".html")] = file
	}
	return files
}

// open loads a report.
func open(b *browser.Page, file string, width int) {
	b.Resize(width, 900)
	b.Open("file://" + file)
}

// empty lists sections and charts in which nothing is seen.
const empty = `(() => {
  const found = [];
  for (const id of ["verdict", "frames", "stack", "phases", "percentiles", "scatter", "ladder", "rivals", "baseline", "worst", "hardware", "environment", "how"]) {
    const e = document.getElementById(id), box = e?.getBoundingClientRect();
    if (!box || box.width < 100 || box.height < 40 || !e.innerText.trim()) found.push("section " + id);
  }
  for (const e of document.querySelectorAll(".plot")) {
    const box = e.querySelector("svg")?.getBoundingClientRect();
    if (!box || box.width < 200 || box.height < 150 || e.querySelectorAll("path").length < 1 || e.querySelectorAll("text").length < 4) found.push(e.id);
    if (e.innerHTML.includes("NaN") || e.innerHTML.includes("Infinity") || e.innerHTML.includes("undefined")) found.push(e.id + " has figures that are none");
  }
  if (/NaN|undefined|Infinity|\[object/.test(document.body.innerText)) found.push("a word of a programmer");
  return found.join("\n");
})()`

func TestReportInBrowser(t *testing.T) {
	b := browser.Start(t, "the report")
	files := written(t)
	open(b, files["report"], 1440)
	for _, theme := range []string{"light", "dark"} {
		b.Theme(theme)
		for _, width := range []int{1440, 360} {
			b.Resize(width, 900)
			for name, problems := range map[string]string{"illegible": b.Illegible(60), "empty": b.Text(empty)} {
				if problems != "" {
					t.Errorf("%s, %d px, %s:\n%s", theme, width, name, problems)
				}
			}
			b.Screenshot(fmt.Sprintf("report-%s-%d", theme, width))
		}
	}
	b.Quiet(nil)

	b.Theme("light")
	b.Resize(1440, 900)
	t.Run("brush by mouse", func(t *testing.T) { brushByMouse(t, b.With(t)) })
	t.Run("brush by keyboard", func(t *testing.T) { brushByKeyboard(t, b.With(t)) })
	t.Run("worst steps", func(t *testing.T) { worstSelects(t, b.With(t)) })
	t.Run("scatter", func(t *testing.T) { scatterChooses(t, b.With(t)) })
	t.Run("theme", func(t *testing.T) { themeToggles(t, b.With(t)) })
	t.Run("tips", func(t *testing.T) { tipsTell(t, b.With(t)) })
	b.Quiet(nil)
	t.Run("odd runs", func(t *testing.T) { oddRunsDraw(t, b.With(t), files) })
}

const (
	stackPath = `[...document.querySelectorAll("#stack-chart path.area")].map(p => p.getAttribute("d")).join()`
	figures   = `document.getElementById("figures").innerText`
	legend    = `document.getElementById("legend").innerText`
	brush     = `String(document.querySelectorAll("#frames-chart rect.brush").length)`
)

// state is what a selection changes.
func state(b *browser.Page) [3]string {
	return [3]string{b.Text(stackPath), b.Text(figures), b.Text(legend)}
}

func mustDiffer(t *testing.T, was, is [3]string, what string) {
	t.Helper()
	for i, name := range []string{"the stacked chart", "the figures", "the legend"} {
		if was[i] == is[i] {
			t.Errorf("%s does not change %s:\n%.200s", what, name, is[i])
		}
	}
}

func brushByMouse(t *testing.T, b *browser.Page) {
	before := state(b)
	if n := b.Text(brush); n != "0" {
		t.Fatalf("%s brushes before any is drawn", n)
	}
	b.Drag("#frames-chart", 0.30, 0.50)
	drawn := state(b)
	mustDiffer(t, before, drawn, "drawing a brush")
	if n := b.Text(brush); n != "1" {
		t.Errorf("%s brushes", n)
	}
	b.Screenshot("report-brushed")
	b.Drag("#frames-chart", 0.40, 0.70)
	moved := state(b)
	mustDiffer(t, drawn, moved, "moving the brush")
	if stepsSelected(t, drawn[1]) != stepsSelected(t, moved[1]) {
		t.Errorf("moved, it selects %d steps, not %d", stepsSelected(t, moved[1]), stepsSelected(t, drawn[1]))
	}
	b.Drag("#frames-chart", 0.95, 0.90)
	b.Text(`(document.getElementById("all-steps").click(), "")`)
	b.Settle()
	if after := state(b); after != before {
		t.Errorf("all selected again, it is not as before: %s, %s", before[1], after[1])
	}
}

// stepsSelected reads how many steps are selected out of the figures.
func stepsSelected(t *testing.T, figures string) (n int) {
	t.Helper()
	lines := strings.Split(figures, "\n")
	if len(lines) < 2 {
		t.Fatalf("figures %q", figures)
	}
	if _, err := fmt.Sscan(strings.ReplaceAll(lines[1], ",", ""), &n); err != nil {
		t.Fatalf("figures %q: %v", figures, err)
	}
	return n
}

func brushByKeyboard(t *testing.T, b *browser.Page) {
	b.Text(`(document.getElementById("frames-chart").focus(), "")`)
	before := state(b)
	const shift = 8
	was := before
	for _, press := range []struct {
		key       string
		modifiers int
		steps     int
	}{{"ArrowRight", 0, 360}, {"ArrowRight", 0, 360}, {"ArrowRight", shift, 396}, {"ArrowLeft", shift, 360}, {"End", 0, 360}, {"ArrowLeft", 0, 360}, {"PageUp", 0, 360}, {"Home", 0, 360}} {
		b.Key(press.key, press.modifiers)
		is := state(b)
		mustDiffer(t, was, is, press.key)
		if n := stepsSelected(t, is[1]); n != press.steps {
			t.Errorf("%s: %d steps are selected, not %d", press.key, n, press.steps)
		}
		was = is
	}
	b.Key("Escape", 0)
	if after := state(b); after != before {
		t.Error("Escape does not select all")
	}
}

func worstSelects(t *testing.T, b *browser.Page) {
	before := state(b)
	b.Text(`(document.querySelectorAll("#worst button")[3].click(), "")`)
	b.Settle()
	mustDiffer(t, before, state(b), "a click on a slow step")
	if n := b.Text(`String(document.querySelectorAll("#frames-chart path.mark").length)`); n != "1" {
		t.Errorf("%s steps are marked", n)
	}
	tick := b.Text(`document.querySelectorAll("#worst button")[3].innerText`)
	var from, at, to int
	ticks := strings.Split(strings.ReplaceAll(b.Text(figures), ",", ""), "\n")[3]
	if _, err := fmt.Sscanf(tick+" "+ticks, "%d %d – %d", &at, &from, &to); err != nil || at < from || at > to {
		t.Errorf("tick %s is not among those selected, %s: %v", tick, ticks, err)
	}
	b.Text(`(document.getElementById("all-steps").click(), "")`)
	b.Settle()
}

func scatterChooses(t *testing.T, b *browser.Page) {
	var names []string
	b.Eval(`[...document.getElementById("cause").options].map(o => o.text)`, &names)
	for _, want := range []string{"hits", "contacts", "collections that ended", "lateness of the step"} {
		if !strings.Contains(strings.Join(names, "|"), want) {
			t.Errorf("%q cannot be chosen of %q", want, names)
		}
	}
	if got := b.Text(`document.getElementById("cause").selectedOptions[0].text`); got != "hits" {
		t.Errorf("chosen at first is %s, not the strongest", got)
	}
	seen := map[string]bool{}
	for i := range names {
		b.Text(fmt.Sprintf(`(() => { const s = document.getElementById("cause"); s.value = %d; s.dispatchEvent(new Event("change")); return ""; })()`, i))
		seen[b.Text(`document.querySelector("#scatter-chart svg").innerHTML`)] = true
	}
	if len(seen) != len(names) {
		t.Errorf("%d causes give %d charts", len(names), len(seen))
	}
}

func themeToggles(t *testing.T, b *browser.Page) {
	background := `getComputedStyle(document.body).backgroundColor`
	auto := b.Text(background)
	click := `(document.getElementById("theme").click(), "")`
	b.Text(click)
	light := b.Text(background)
	b.Text(click)
	dark := b.Text(background)
	b.Text(click)
	if auto != light || light == dark || b.Text(background) != auto {
		t.Errorf("backgrounds: auto %s, light %s, dark %s", auto, light, dark)
	}
}

func tipsTell(t *testing.T, b *browser.Page) {
	for _, id := range []string{"frames", "stack", "percentiles"} {
		b.Text(`(document.getElementById("tip").hidden = true, "")`)
		b.Move(b.Box("#"+id+"-chart").At(0.6, 0.6))
		if tip := b.Text(`document.getElementById("tip").hidden ? "" : document.getElementById("tip").innerText`); !strings.Contains(tip, "ms") {
			t.Errorf("%s: the tip says %q", id, tip)
		}
	}
}

// oddRunsDraw: runs of any length draw without a complaint, and so do hostile names.
func oddRunsDraw(t *testing.T, b *browser.Page, files map[string]string) {
	for name, file := range files {
		if !strings.HasPrefix(name, "odd-") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			b := b.With(t)
			open(b, file, 360)
			b.Drag("main", 0.2, 0.8)
			wrong := `[(document.body.innerText.match(/NaN|undefined|Infinity|\[object/g) || []).join(),
				document.documentElement.scrollWidth > innerWidth ? "scrolls sideways" : "", globalThis.hostile ? "ran a name as a script" : ""].join("")`
			if words := b.Text(wrong); words != "" {
				t.Errorf("the page says or does %s", words)
			}
			b.Screenshot(name)
			b.Quiet(nil)
		})
	}
}
