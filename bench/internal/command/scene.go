package command

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/native"
)

// Scene is something that the command measures. Each registers itself.
type Scene struct {
	Name   string
	Family Family
	Help   string   // one line
	Flags  []string // that it takes, beside those of every scene
	// check fills in the flags that were not given, and checks the others; nil: nothing to do.
	Check func(o *Options, given map[string]bool) error
	Run   func(o *Options, level native.Level, stdout, stderr io.Writer) error
	size  *sizeRange                                                  // nil: -scale is not for it
	sim   func(o *Options, level native.Level) (*evertick.Sim, error) // of -view; nil: it is not for it
	open  func(o *Options, level native.Level) (stepper, error)       // of -stages; nil: it is not for it
}

// sizeRange is what -scale needs to measure the cost of a scene against its size.
type sizeRange struct {
	unit        string // what the size counts
	first, most int    // sizes to begin and to end with
	open        func(o *Options, n int, level native.Level) (stepper, error)
}

type Family string

const (
	Simulations  Family = "simulations"
	bodiesAlone  Family = "bodies alone"
	inSpace      Family = "bodies alone, in space"
	withoutTicks Family = "without ticks"
	OverNetwork  Family = "over a network"
)

// registered are all scenes, by name.
var registered = map[string]*Scene{}

func Register(s Scene) {
	if registered[s.Name] != nil {
		panic("bench: two scenes of one name")
	}
	registered[s.Name] = &s
}

// sceneNames returns the names of the scenes for which is holds, sorted.
func sceneNames(is func(*Scene) bool) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(registered)) {
		if is(registered[name]) {
			names = append(names, name)
		}
	}
	return names
}

func findScene(name string) (*Scene, error) {
	s := registered[name]
	if s == nil {
		all := sceneNames(func(*Scene) bool { return true })
		return nil, fmt.Errorf("%w: -scene: unknown scene %q; scenes are %s: %w", ErrUsage, name, strings.Join(all, ", "), fault.ErrRange)
	}
	return s, nil
}

// writeList writes all scenes with their flags.
func writeList(w io.Writer) {
	for _, family := range []Family{Simulations, bodiesAlone, inSpace, withoutTicks, OverNetwork} {
		fmt.Fprintf(w, "%s\n\n", family)
		for _, name := range sceneNames(func(s *Scene) bool { return s.Family == family }) {
			s := registered[name]
			flags := s.Flags
			if s.size != nil {
				flags = append(slices.Clone(flags), "scale")
			}
			if s.sim != nil {
				flags = append(slices.Clone(flags), "view")
			}
			if s.open != nil {
				flags = append(slices.Clone(flags), "stages")
			}
			fmt.Fprintf(w, "  %-11s %s\n  %-11s -%s\n", name, s.Help, "", strings.Join(flags, " -"))
		}
		fmt.Fprintln(w)
	}
}

// Flags of every scene, of -scale, of -view, of -stages, and of scenes whose steps are profiled.
var (
	commonFlags  = []string{"scene", "ops", "json", "info", "list"}
	scaleFlags   = []string{"scale", "seed", "level", "workers", "q", "r", "bodies", "spread", "quick", "csv", "budget"}
	viewFlags    = []string{"scene", "view", "addr", "n", "q", "r", "bodies", "spread", "seed", "level", "workers", "budget", "sleep", "continuous"}
	stagesFlags  = []string{"stages", "busy", "first", "paced", "n", "q", "r", "bodies", "spread", "ticks", "warmup", "seed", "level", "workers", "csv", "sleep", "continuous"}
	profileFlags = []string{"ticks", "warmup", "seed", "level", "workers", "budget", "ladder", "out", "baseline", "pin", "hardware"}
)

// checkFlags returns an error if a flag was given that the scene does not take.
func (s *Scene) checkFlags(given map[string]bool) error {
	if given["scale"] && s.size == nil {
		sizable := sceneNames(func(s *Scene) bool { return s.size != nil })
		return fmt.Errorf("%w: -scale: not for the scene %s; for %s", ErrUsage, s.Name, strings.Join(sizable, ", "))
	}
	if given["view"] && s.sim == nil {
		viewable := sceneNames(func(s *Scene) bool { return s.sim != nil })
		return fmt.Errorf("%w: -view: not for the scene %s; for %s", ErrUsage, s.Name, strings.Join(viewable, ", "))
	}
	if given["stages"] && s.open == nil {
		staged := sceneNames(func(s *Scene) bool { return s.open != nil })
		return fmt.Errorf("%w: -stages: not for the scene %s; for %s", ErrUsage, s.Name, strings.Join(staged, ", "))
	}
	for _, name := range [...]string{"busy", "first"} {
		if given[name] && !given["stages"] {
			return fmt.Errorf("%w: -%s: only with -stages", ErrUsage, name)
		}
	}
	if given["addr"] && !given["view"] {
		return fmt.Errorf("%w: -addr: only with -view", ErrUsage)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch {
		case given["view"] && !slices.Contains(viewFlags, name):
			return fmt.Errorf("%w: -%s: not with -view", ErrUsage, name)
		case name == "view" || name == "addr":
		case slices.Contains(commonFlags, name):
		case given["stages"]:
			ofStages := slices.Contains([]string{"stages", "busy", "first", "paced", "csv"}, name)
			if !slices.Contains(stagesFlags, name) || !ofStages && !slices.Contains(s.Flags, name) {
				return fmt.Errorf("%w: -%s: not with -stages of the scene %s", ErrUsage, name, s.Name)
			}
		case given["scale"]:
			ofScale := name == "scale" || name == "quick" || name == "csv" || name == "budget"
			if !slices.Contains(scaleFlags, name) || !ofScale && !slices.Contains(s.Flags, name) {
				return fmt.Errorf("%w: -%s: not with -scale of the scene %s", ErrUsage, name, s.Name)
			}
		case !slices.Contains(s.Flags, name):
			return fmt.Errorf("%w: -%s: not for the scene %s", ErrUsage, name, s.Name)
		}
	}
	return nil
}
