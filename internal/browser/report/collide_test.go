package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/browser"
)

// collisions lists what lies on something else in the report.
func collisions(b *browser.Page) string {
	return b.Collisions("main", "path.mark, circle.dot",
		"main, section, header, .head, .tools, .strip, .pair, .figures, .legend, .legend li, .keys, .facts, tr, dl")
}

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

// Nothing in the page lies on anything else, and each phase looks like no other, on phones and on
// wide screens, however many phases there are.
func TestNothingCollides(t *testing.T) {
	b := browser.Start(t, "the report")
	for name, file := range written(t) {
		if !strings.HasPrefix(name, "phases-") {
			continue
		}
		open(b, file, 1440)
		for _, width := range []int{360, 390, 768, 1440} {
			b.Resize(width, 900)
			for _, selected := range []bool{false, true} {
				button := "all-steps"
				if selected {
					button = "slowest-step"
				}
				b.Text(fmt.Sprintf(`(document.getElementById(%q).click(), "")`, button))
				b.Settle()
				for what, problems := range map[string]string{"collide": collisions(b), "look alike": b.Text(merged)} {
					if problems != "" {
						t.Errorf("%s, %d px, selected %v: %s:\n%s", name, width, selected, what, problems)
					}
				}
				b.Screenshot(fmt.Sprintf("%s-%d-%v", name, width, selected))
			}
		}
	}
	b.Quiet(nil)
}

// The checks detect planted faults.
func TestCollisionsAreFound(t *testing.T) {
	b := browser.Start(t, "the report")
	file := written(t)["phases-8-2000000"]
	for _, c := range []struct{ spoil, want string }{
		{`document.querySelector("h1").style.marginBottom = "-30px"`, "on each other"},
		{`document.querySelector(".sentence").style.width = "700px"`, "beyond the edge"},
		{`document.querySelector("#frames").style.marginTop = "-20px"`, "overlap"},
		{`document.querySelector("#frames-chart text").setAttribute("x", "390")`, "right of its chart"},
		{`document.querySelector("#frames-chart text").textContent = "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW"`, "its chart"},
		{`document.querySelectorAll("#legend .swatch")[3].className = document.querySelectorAll("#legend .swatch")[2].className`, "looks like"},
	} {
		open(b, file, 390)
		if problems := collisions(b) + b.Text(merged); problems != "" {
			t.Fatal(problems)
		}
		b.Text("(" + c.spoil + `, "")`)
		if problems := collisions(b) + b.Text(merged); !strings.Contains(problems, c.want) {
			t.Errorf("%s: found %q", c.spoil, problems)
		}
	}
}
