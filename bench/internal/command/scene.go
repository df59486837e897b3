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

// scene is something that the command measures. Each registers itself.
type scene struct {
	name   string
	family family
	help   string   // one line
	flags  []string // that it takes, beside those of every scene
	// check fills in the flags that were not given, and checks the others; nil: nothing to do.
	check func(o *options, given map[string]bool) error
	run   func(o *options, level native.Level, stdout, stderr io.Writer) error
	size  *sizeRange                                                  // nil: -scale is not for it
	sim   func(o *options, level native.Level) (*evertick.Sim, error) // of -view; nil: it is not for it
}

// sizeRange is what -scale needs to measure the cost of a scene against its size.
type sizeRange struct {
	unit        string // what the size counts
	first, most int    // sizes to begin and to end with
	open        func(o *options, n int, level native.Level) (stepper, error)
}

type family string

const (
	simulations  family = "simulations"
	bodiesAlone  family = "bodies alone"
	withoutTicks family = "without ticks"
	overNetwork  family = "over a network"
)

// registered are all scenes, by name.
var registered = map[string]*scene{}

func register(s scene) {
	if registered[s.name] != nil {
		panic("bench: two scenes of one name")
	}
	registered[s.name] = &s
}

// sceneNames returns the names of the scenes for which is holds, sorted.
func sceneNames(is func(*scene) bool) (names []string) {
	for _, name := range slices.Sorted(maps.Keys(registered)) {
		if is(registered[name]) {
			names = append(names, name)
		}
	}
	return names
}

func findScene(name string) (*scene, error) {
	s := registered[name]
	if s == nil {
		all := sceneNames(func(*scene) bool { return true })
		return nil, fmt.Errorf("%w: -scene: unknown scene %q; scenes are %s: %w", errUsage, name, strings.Join(all, ", "), fault.ErrRange)
	}
	return s, nil
}

// writeList writes all scenes with their flags.
func writeList(w io.Writer) {
	for _, family := range []family{simulations, bodiesAlone, withoutTicks, overNetwork} {
		fmt.Fprintf(w, "%s\n\n", family)
		for _, name := range sceneNames(func(s *scene) bool { return s.family == family }) {
			s := registered[name]
			flags := s.flags
			if s.size != nil {
				flags = append(slices.Clone(flags), "scale")
			}
			if s.sim != nil {
				flags = append(slices.Clone(flags), "view")
			}
			fmt.Fprintf(w, "  %-11s %s\n  %-11s -%s\n", name, s.help, "", strings.Join(flags, " -"))
		}
		fmt.Fprintln(w)
	}
}

// Flags of every scene, of -scale, of -view, and of scenes whose steps are profiled.
var (
	commonFlags  = []string{"scene", "ops", "json", "info", "list"}
	scaleFlags   = []string{"scale", "seed", "level", "workers", "q", "r", "bodies", "spread", "quick", "csv", "budget"}
	viewFlags    = []string{"scene", "view", "addr", "n", "q", "r", "bodies", "spread", "seed", "level", "workers", "budget", "sleep", "continuous"}
	profileFlags = []string{"ticks", "warmup", "seed", "level", "workers", "budget", "ladder", "out", "baseline", "pin", "hardware"}
)

// checkFlags returns an error if a flag was given that the scene does not take.
func (s *scene) checkFlags(given map[string]bool) error {
	if given["scale"] && s.size == nil {
		sizable := sceneNames(func(s *scene) bool { return s.size != nil })
		return fmt.Errorf("%w: -scale: not for the scene %s; for %s", errUsage, s.name, strings.Join(sizable, ", "))
	}
	if given["view"] && s.sim == nil {
		viewable := sceneNames(func(s *scene) bool { return s.sim != nil })
		return fmt.Errorf("%w: -view: not for the scene %s; for %s", errUsage, s.name, strings.Join(viewable, ", "))
	}
	if given["addr"] && !given["view"] {
		return fmt.Errorf("%w: -addr: only with -view", errUsage)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch {
		case given["view"] && !slices.Contains(viewFlags, name):
			return fmt.Errorf("%w: -%s: not with -view", errUsage, name)
		case name == "view" || name == "addr":
		case slices.Contains(commonFlags, name):
		case given["scale"]:
			ofScale := name == "scale" || name == "quick" || name == "csv" || name == "budget"
			if !slices.Contains(scaleFlags, name) || !ofScale && !slices.Contains(s.flags, name) {
				return fmt.Errorf("%w: -%s: not with -scale of the scene %s", errUsage, name, s.name)
			}
		case !slices.Contains(s.flags, name):
			return fmt.Errorf("%w: -%s: not for the scene %s", errUsage, name, s.name)
		}
	}
	return nil
}
