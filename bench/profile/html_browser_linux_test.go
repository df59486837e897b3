package profile

import (
	"fmt"
	"strings"
	"testing"
)

// illegible lists what cannot be read: text that is too small or lacks contrast with what is
// behind it, by the formula of WCAG 2.2, and elements beyond the right edge.
const illegible = `(() => {
  const channels = text => { const m = text.match(/[\d.]+/g).map(Number); return m.length < 4 ? [...m, 1] : m; };
  const luminance = ([r, g, b]) => {
    const linear = [r, g, b].map(v => { v /= 255; return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const contrast = (a, b) => { const [x, y] = [luminance(a), luminance(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
  const behind = e => {
    for (; e; e = e.parentElement) { const c = channels(getComputedStyle(e).backgroundColor); if (c[3] > 0.99) return c; }
    return [255, 255, 255];
  };
  const found = new Set();
  let texts = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const e = node.parentElement, style = getComputedStyle(e);
    if (!node.data.trim() || ["SCRIPT", "STYLE"].includes(e.tagName) || !e.getClientRects().length || style.visibility === "hidden") continue;
    texts++;
    const ink = e instanceof SVGElement ? style.fill : style.color, words = node.data.trim().slice(0, 40);
    if (parseFloat(style.fontSize) < 11) found.add("size " + style.fontSize + ": " + words);
    const c = contrast(channels(ink), behind(e));
    if (c < 4.5) found.add("contrast " + c.toFixed(2) + ": " + words);
    if (e.getBoundingClientRect().right > innerWidth + 1) found.add("beyond the edge: " + words);
  }
  if (document.documentElement.scrollWidth > innerWidth) found.add("the page scrolls sideways: " + document.documentElement.scrollWidth);
  if (texts < 60) found.add("only " + texts + " texts");
  return [...found].join("\n");
})()`

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
	b := startBrowser(t)
	rep := Analyze(withBaseline(furnish(synthetic(planted{seed: 3, steps: 3_600, cause: byPhase, phase: 2, budget: 2_000_000})), 90))
	rep.Run.Steps.GCs[700], rep.Run.Steps.GCPauseNs[700], rep.Run.Steps.GCAssistNs[700] = 1, 150_000, 80_000
	b.open(rep, 1440)
	for _, theme := range []string{"light", "dark"} {
		b.theme(theme)
		for _, width := range []int{1440, 360} {
			b.resize(width)
			for name, problems := range map[string]string{"illegible": b.text(illegible), "empty": b.text(empty)} {
				if problems != "" {
					t.Errorf("%s, %d px, %s:\n%s", theme, width, name, problems)
				}
			}
			b.screenshot(fmt.Sprintf("report-%s-%d", theme, width))
		}
	}
	b.quiet()

	b.theme("light")
	b.resize(1440)
	t.Run("brush by mouse", func(t *testing.T) { brushByMouse(t, b) })
	t.Run("brush by keyboard", func(t *testing.T) { brushByKeyboard(t, b) })
	t.Run("worst steps", func(t *testing.T) { worstSelects(t, b) })
	t.Run("scatter", func(t *testing.T) { scatterChooses(t, b) })
	t.Run("theme", func(t *testing.T) { themeToggles(t, b) })
	t.Run("tips", func(t *testing.T) { tipsTell(t, b) })
	b.t = t
	b.quiet()
	t.Run("odd runs", func(t *testing.T) { oddRunsDraw(t, b) })
	b.t = t // for its end
}

const (
	stackPath = `[...document.querySelectorAll("#stack-chart path.area")].map(p => p.getAttribute("d")).join()`
	figures   = `document.getElementById("figures").innerText`
	legend    = `document.getElementById("legend").innerText`
	brush     = `String(document.querySelectorAll("#frames-chart rect.brush").length)`
)

// state is what a selection changes.
func state(b *browser) [3]string {
	return [3]string{b.text(stackPath), b.text(figures), b.text(legend)}
}

func mustDiffer(t *testing.T, was, is [3]string, what string) {
	t.Helper()
	for i, name := range []string{"the stacked chart", "the figures", "the legend"} {
		if was[i] == is[i] {
			t.Errorf("%s does not change %s:\n%.200s", what, name, is[i])
		}
	}
}

func brushByMouse(t *testing.T, b *browser) {
	b.t = t
	before := state(b)
	if n := b.text(brush); n != "0" {
		t.Fatalf("%s brushes before any is drawn", n)
	}
	b.drag("#frames-chart", 0.30, 0.50)
	drawn := state(b)
	mustDiffer(t, before, drawn, "drawing a brush")
	if n := b.text(brush); n != "1" {
		t.Errorf("%s brushes", n)
	}
	b.screenshot("report-brushed")
	b.drag("#frames-chart", 0.40, 0.70)
	moved := state(b)
	mustDiffer(t, drawn, moved, "moving the brush")
	if stepsSelected(t, drawn[1]) != stepsSelected(t, moved[1]) {
		t.Errorf("moved, it selects %d steps, not %d", stepsSelected(t, moved[1]), stepsSelected(t, drawn[1]))
	}
	b.drag("#frames-chart", 0.95, 0.90)
	b.text(`(document.getElementById("all-steps").click(), "")`)
	b.settle()
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

func brushByKeyboard(t *testing.T, b *browser) {
	b.t = t
	b.text(`(document.getElementById("frames-chart").focus(), "")`)
	before := state(b)
	const shift = 8
	was := before
	for _, press := range []struct {
		key       string
		modifiers int
		steps     int
	}{{"ArrowRight", 0, 360}, {"ArrowRight", 0, 360}, {"ArrowRight", shift, 396}, {"ArrowLeft", shift, 360}, {"End", 0, 360}, {"ArrowLeft", 0, 360}, {"PageUp", 0, 360}, {"Home", 0, 360}} {
		b.key(press.key, press.modifiers)
		is := state(b)
		mustDiffer(t, was, is, press.key)
		if n := stepsSelected(t, is[1]); n != press.steps {
			t.Errorf("%s: %d steps are selected, not %d", press.key, n, press.steps)
		}
		was = is
	}
	b.key("Escape", 0)
	if after := state(b); after != before {
		t.Error("Escape does not select all")
	}
}

func worstSelects(t *testing.T, b *browser) {
	b.t = t
	before := state(b)
	b.text(`(document.querySelectorAll("#worst button")[3].click(), "")`)
	b.settle()
	mustDiffer(t, before, state(b), "a click on a slow step")
	if n := b.text(`String(document.querySelectorAll("#frames-chart path.mark").length)`); n != "1" {
		t.Errorf("%s steps are marked", n)
	}
	tick := b.text(`document.querySelectorAll("#worst button")[3].innerText`)
	var from, at, to int
	ticks := strings.Split(strings.ReplaceAll(b.text(figures), ",", ""), "\n")[3]
	if _, err := fmt.Sscanf(tick+" "+ticks, "%d %d – %d", &at, &from, &to); err != nil || at < from || at > to {
		t.Errorf("tick %s is not among those selected, %s: %v", tick, ticks, err)
	}
	b.text(`(document.getElementById("all-steps").click(), "")`)
	b.settle()
}

func scatterChooses(t *testing.T, b *browser) {
	b.t = t
	var names []string
	b.eval(`[...document.getElementById("cause").options].map(o => o.text)`, &names)
	for _, want := range []string{"hits", "contacts", "collections that ended", "lateness of the step"} {
		if !strings.Contains(strings.Join(names, "|"), want) {
			t.Errorf("%q cannot be chosen of %q", want, names)
		}
	}
	if got := b.text(`document.getElementById("cause").selectedOptions[0].text`); got != "hits" {
		t.Errorf("chosen at first is %s, not the strongest", got)
	}
	seen := map[string]bool{}
	for i := range names {
		b.text(fmt.Sprintf(`(() => { const s = document.getElementById("cause"); s.value = %d; s.dispatchEvent(new Event("change")); return ""; })()`, i))
		seen[b.text(`document.querySelector("#scatter-chart svg").innerHTML`)] = true
	}
	if len(seen) != len(names) {
		t.Errorf("%d causes give %d charts", len(names), len(seen))
	}
}

func themeToggles(t *testing.T, b *browser) {
	b.t = t
	background := `getComputedStyle(document.body).backgroundColor`
	auto := b.text(background)
	click := `(document.getElementById("theme").click(), "")`
	b.text(click)
	light := b.text(background)
	b.text(click)
	dark := b.text(background)
	b.text(click)
	if auto != light || light == dark || b.text(background) != auto {
		t.Errorf("backgrounds: auto %s, light %s, dark %s", auto, light, dark)
	}
}

func tipsTell(t *testing.T, b *browser) {
	b.t = t
	for _, id := range []string{"frames", "stack", "percentiles"} {
		b.text(`(document.getElementById("tip").hidden = true, "")`)
		var box struct{ X, Y, Width, Height float64 }
		b.eval(fmt.Sprintf(`(() => { const e = document.getElementById("%s-chart"); e.scrollIntoView({block: "center"}); return e.getBoundingClientRect().toJSON(); })()`, id), &box)
		b.call("Input.dispatchMouseEvent", object{"type": "mouseMoved", "x": box.X + box.Width*0.6, "y": box.Y + box.Height*0.6})
		b.settle()
		if tip := b.text(`document.getElementById("tip").hidden ? "" : document.getElementById("tip").innerText`); !strings.Contains(tip, "ms") {
			t.Errorf("%s: the tip says %q", id, tip)
		}
	}
}

// oddRunsDraw: runs of any length draw without a complaint, and so do hostile names.
func oddRunsDraw(t *testing.T, b *browser) {
	for name, run := range oddRuns() {
		t.Run(name, func(t *testing.T) {
			b.t = t
			b.open(Analyze(run), 360)
			b.drag("main", 0.2, 0.8)
			wrong := `[(document.body.innerText.match(/NaN|undefined|Infinity|\[object/g) || []).join(),
				document.documentElement.scrollWidth > innerWidth ? "scrolls sideways" : "", globalThis.hostile ? "ran a name as a script" : ""].join("")`
			if words := b.text(wrong); words != "" {
				t.Errorf("the page says or does %s", words)
			}
			b.screenshot("odd-" + strings.ReplaceAll(name, " ", "-"))
			b.quiet()
		})
	}
}
