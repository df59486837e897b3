package profile

import (
	"fmt"
	"strings"
	"testing"
)

// collisions lists texts that lie on other texts or are cut off, and boxes beside each other that
// overlap: by the rectangles in which the browser has drawn them.
const collisions = `(() => {
  const found = new Set(), boxes = [];
  const clips = new Map(); // the right edge at which what is in an element is cut off
  const clip = e => {
    if (!e || e.tagName === "MAIN") return Infinity;
    if (!clips.has(e)) clips.set(e, Math.min(clip(e.parentElement), getComputedStyle(e).overflowX === "hidden" ? e.getBoundingClientRect().right : Infinity));
    return clips.get(e);
  };
  const words = s => s.trim().replace(/\s+/g, " ").slice(0, 40);
  const shown = e => e.getClientRects().length > 0 && getComputedStyle(e).visibility !== "hidden";
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode());) {
    const e = node.parentElement;
    if (!node.data.trim() || ["SCRIPT", "STYLE", "OPTION"].includes(e.tagName) || !shown(e)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const r of range.getClientRects()) {
      if (r.width < 1 || r.height < 1) continue;
      boxes.push({ l: r.left, r: r.right, t: r.top, b: r.bottom, text: words(node.data), e });
      if (r.left < -0.5 || r.right > innerWidth + 0.5) found.add("beyond the edge: " + words(node.data));
      if (r.right > clip(e) + 1) found.add("cut off: " + words(node.data));
      const svg = e.closest("svg");
      if (svg && r.left < svg.getBoundingClientRect().left - 1) found.add("left of its chart: " + words(node.data));
      if (svg && r.right > svg.getBoundingClientRect().right + 1) found.add("right of its chart: " + words(node.data));
    }
  }
  for (const e of document.querySelectorAll("path.mark, circle.dot")) {
    const r = e.getBoundingClientRect();
    boxes.push({ l: r.left, r: r.right, t: r.top, b: r.bottom, text: "the " + e.getAttribute("class"), e });
  }
  boxes.sort((a, b) => a.t - b.t);
  for (let i = 0; i < boxes.length; i++) {
    const a = boxes[i];
    for (let j = i + 1; j < boxes.length && boxes[j].t < a.b; j++) {
      const b = boxes[j];
      // Line boxes are higher than their letters, so what shares a few pixels of height does not touch.
      const over = Math.min(a.b, b.b) - b.t, wide = Math.min(a.r, b.r) - Math.max(a.l, b.l);
      if (over > 0.3 * Math.min(a.b - a.t, b.b - b.t) && wide > 0.5) found.add("on each other: " + a.text + " | " + b.text);
    }
  }
  for (const parent of document.querySelectorAll("main, section, header, .head, .tools, .strip, .pair, .figures, .legend, .legend li, .keys, .facts, .how, tr, dl")) {
    const kids = [...parent.children].filter(shown).filter(e => !["BR", "BUTTON"].includes(e.tagName) || parent.tagName !== "TD");
    for (let i = 0; i < kids.length; i++) for (let j = i + 1; j < kids.length; j++) {
      const a = kids[i].getBoundingClientRect(), b = kids[j].getBoundingClientRect();
      if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1 && !parent.matches(".how")) {
        found.add("boxes of <" + parent.tagName.toLowerCase() + "> overlap: " + words(kids[i].innerText ?? "") + " | " + words(kids[j].innerText ?? ""));
      }
    }
  }
  return [...found].join("\n");
})()`

// merged lists phases that look like another one in the legend, in the chart or in the table of
// phases, and phases that look different in legend and chart.
const merged = `(() => {
  const found = [], look = new Map();
  const areas = [...document.querySelectorAll("#stack-chart path.area")];
  const items = [...document.querySelectorAll("#legend li")];
  const rows = [...document.querySelectorAll("#phases tbody tr")];
  if (areas.length !== items.length || rows.length !== items.length) found.push(areas.length + " areas, " + items.length + " in the legend, " + rows.length + " in the table");
  items.forEach((item, i) => {
    const swatch = item.querySelector(".swatch"), style = getComputedStyle(swatch), name = item.querySelector(".name").innerText;
    const box = swatch.getBoundingClientRect();
    if (box.width < 10 || box.height < 10) found.push("swatch of " + name + ": " + box.width + " × " + box.height);
    const seen = style.backgroundColor + " " + style.backgroundImage;
    if (look.has(seen)) found.push(name + " looks like " + look.get(seen) + ": " + seen);
    look.set(seen, name);
    if (getComputedStyle(areas[i]).fill !== style.backgroundColor) found.push(name + ": " + getComputedStyle(areas[i]).fill + " in the chart, " + style.backgroundColor + " in the legend");
    const texture = areas[i].nextElementSibling?.matches(".texture") ? getComputedStyle(areas[i].nextElementSibling).fill : "none";
    if ((texture === "none") !== (style.backgroundImage === "none")) found.push(name + ": texture " + texture + " in the chart, " + style.backgroundImage + " in the legend");
    const inTable = getComputedStyle(rows[i].querySelector(".swatch"));
    if (inTable.backgroundColor + " " + inTable.backgroundImage !== seen) found.push(name + " looks different in the table");
  });
  return found.join("\n");
})()`

// phased is a run of so many phases, some of them short, some with long names.
func phased(n int, budgetNs int64) *Run {
	run := withBaseline(furnish(synthetic(planted{seed: 11, steps: 1_200, cause: byPhase, phase: 2, budget: budgetNs})), 90)
	s := &run.Steps
	s.Phases = append([]string(nil), s.Phases...)
	for j := len(s.Phases); j < n; j++ {
		name := fmt.Sprintf("system.%d", j)
		if j%4 == 0 {
			name = fmt.Sprintf("a_system_with_a_long_name_%d", j)
		}
		column := make([]int64, s.Len())
		for i := range column {
			column[i] = int64(1+j%5) * (20_000 + int64(i*j%977)*9)
			s.Ns[i] += column[i]
		}
		s.Phases, s.PhaseNs = append(s.Phases, name), append(s.PhaseNs, column)
		run.Hardware.Phases = append(run.Hardware.Phases, run.Hardware.Phases[j%6])
	}
	return run
}

// Nothing in the page lies on anything else, and each phase looks like no other, on phones and on
// wide screens, however many phases there are.
func TestNothingCollides(t *testing.T) {
	b := startBrowser(t)
	for _, c := range []struct {
		phases int
		budget int64 // within the chart; far above it; as much as p95
	}{{8, 2_000_000}, {8, 1_000_000_000 / 60}, {12, 1_482_000}, {20, 2_900_000}} {
		phases := c.phases
		run := phased(phases, c.budget)
		if c.budget > 10_000_000 { // so long that the axis of percentiles is logarithmic
			run.Steps.PhaseNs[2][600] += 90_000_000
			run.Steps.Ns[600] += 90_000_000
		}
		b.open(Analyze(run), 1440)
		for _, width := range []int{360, 390, 768, 1440} {
			b.resize(width)
			for _, selected := range []bool{false, true} {
				button := "all-steps"
				if selected {
					button = "slowest-step"
				}
				b.text(fmt.Sprintf(`(document.getElementById(%q).click(), "")`, button))
				b.settle()
				for what, problems := range map[string]string{"collide": b.text(collisions), "look alike": b.text(merged)} {
					if problems != "" {
						t.Errorf("%d phases, budget of %d ns, %d px, selected %v: %s:\n%s", phases, c.budget, width, selected, what, problems)
					}
				}
				b.screenshot(fmt.Sprintf("phases-%d-%d-%d-%v", phases, c.budget/1000, width, selected))
			}
		}
	}
	b.quiet()
}

// The checks detect planted faults.
func TestCollisionsAreFound(t *testing.T) {
	b := startBrowser(t)
	b.open(Analyze(phased(8, 2_000_000)), 390)
	for _, c := range []struct{ spoil, want string }{
		{`document.querySelector("h1").style.marginBottom = "-30px"`, "on each other"},
		{`document.querySelector(".sentence").style.width = "700px"`, "beyond the edge"},
		{`document.querySelector("#frames").style.marginTop = "-20px"`, "overlap"},
		{`document.querySelector("#frames-chart text").setAttribute("x", "390")`, "right of its chart"},
		{`document.querySelector("#frames-chart text").textContent = "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW"`, "its chart"},
		{`document.querySelectorAll("#legend .swatch")[3].className = document.querySelectorAll("#legend .swatch")[2].className`, "looks like"},
	} {
		b.open(Analyze(phased(8, 2_000_000)), 390)
		if problems := b.text(collisions) + b.text(merged); problems != "" {
			t.Fatal(problems)
		}
		b.text("(" + c.spoil + `, "")`)
		if problems := b.text(collisions) + b.text(merged); !strings.Contains(problems, c.want) {
			t.Errorf("%s: found %q", c.spoil, problems)
		}
	}
}
