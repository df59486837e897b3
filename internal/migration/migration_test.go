package migration

import (
	"slices"
	"testing"
)

const page = `# Coming from Toy

| Toy | here |
|---|---|
| ` + "`t1Make`, `t1World_Spin`" + ` | ` + "`World.Make`, `World.Spin(dt)`, `ecs.World`, `box.Lid`, `0xFF`" + ` |

## Every call of Toy

` + "`t1Make`, `t1World_Step`, `t1World_Step`, `t1World_Stop`" + `

## After it

` + "`t1World_Stop`" + `
`

// The checks find names that do not exist, and calls without an answer.
func TestFaults(t *testing.T) {
	toy := Page{Here: "toy", Engine: "Toy", Prefix: "t1"}
	known := map[string]names{"toy": {"World": true, "World.Make": true}, "ecs": {"World": true}}
	faults, checked := toy.nameFaults(page, func(folder string) names { return known[folder] })
	if want := []string{"`World.Spin(dt)`: toy has no World.Spin", "`box.Lid`: no package is called box."}; !slices.Equal(faults, want) || checked != 4 {
		t.Errorf("names: %q, %d checked; want %q, 4", faults, checked, want)
	}
	faults = toy.callFaults(page, []string{"t1Make", "t1World_Step", "t1World_Throw"})
	want := []string{"t1World_Step is in the section twice", "Toy has no t1World_Stop", "the page lacks t1World_Throw", "Toy has no t1World_Spin", "Toy has no t1World_Stop"}
	if !slices.Equal(faults, want) {
		t.Errorf("calls: %q, want %q", faults, want)
	}
	if faults := toy.callFaults("# Coming from Toy\n", nil); len(faults) != 1 {
		t.Errorf("a page without the section: %q", faults)
	}
}

// Names are those of functions, methods, values, types, fields and embedded types.
func TestNamesOf(t *testing.T) {
	all := namesOf(t, ".")
	for _, name := range []string{"Page", "Page.File", "Page.Names", "namesOf", "code"} {
		if !all[name] {
			t.Errorf("%s is missing", name)
		}
	}
	if all["TestNamesOf"] {
		t.Error("tests count")
	}
}
