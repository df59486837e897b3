package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// sizes is the value of a flag: whole numbers with commas between them.
type sizes []int

func (s *sizes) String() string {
	var all []string
	for _, n := range *s {
		all = append(all, strconv.Itoa(n))
	}
	return strings.Join(all, ",")
}

// Set implements flag.Value.
func (s *sizes) Set(text string) error {
	*s = nil
	for _, part := range strings.Split(text, ",") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return fmt.Errorf("%q is no whole number", part)
		}
		*s = append(*s, n)
	}
	return nil
}

// lengths is the value of a flag: numbers of metres with commas between them.
type lengths []float64

func (l *lengths) String() string {
	var all []string
	for _, v := range *l {
		all = append(all, strconv.FormatFloat(v, 'g', -1, 64))
	}
	return strings.Join(all, ",")
}

// Set implements flag.Value.
func (l *lengths) Set(text string) error {
	*l = nil
	for _, part := range strings.Split(text, ",") {
		v, err := strconv.ParseFloat(part, 32)
		if err != nil {
			return fmt.Errorf("%q is no number", part)
		}
		*l = append(*l, v)
	}
	return nil
}

// single returns the one value of a flag that takes several in the scene queries alone, or the
// other value if it was not given.
func single[T any](flag string, given []T, otherwise T) (T, error) {
	switch len(given) {
	case 0:
		return otherwise, nil
	case 1:
		return given[0], nil
	}
	return otherwise, fmt.Errorf("%w: -%s: one value, several are for the scene %s", errUsage, flag, queriesScene)
}

// sizeParams puts -n, -q and -r into the parameters of a scene of entities.
func (o *options) sizeParams(p *params) error {
	for _, f := range []struct {
		name      string
		given, ok bool
	}{
		{"n", len(o.ns) > 0, p.most > 0},
		{"q", len(o.qs) > 0, p.most > 0 && p.perceivers > 0},
		{"r", len(o.rs) > 0, p.most > 0 && p.radius > 0},
	} {
		if f.given && !f.ok {
			return fmt.Errorf("%w: -%s: not for the scene %s", errUsage, f.name, o.scene)
		}
	}
	var err error
	if p.most == 0 {
		return nil
	}
	if p.entities, err = single("n", o.ns, p.entities); err != nil {
		return err
	}
	if p.perceivers, err = single("q", o.qs, p.perceivers); err != nil {
		return err
	}
	r, err := single("r", o.rs, float64(p.radius))
	if err != nil {
		return err
	}
	p.radius, o.n = float32(r), p.entities
	switch {
	case p.entities < 1 || p.entities > p.most:
		return fmt.Errorf("%w: -n %d: 1 to %d", errUsage, p.entities, p.most)
	case len(o.qs) > 0 && (p.perceivers < 1 || p.perceivers > p.most):
		return fmt.Errorf("%w: -q %d: 1 to %d", errUsage, p.perceivers, p.most)
	case len(o.rs) > 0 && !(r > 0 && r <= longestRadius):
		return fmt.Errorf("%w: -r %g: above 0 to %d", errUsage, r, longestRadius)
	}
	return nil
}

// longestRadius of -r in metres: beyond, results outgrow any memory.
const longestRadius = 1000

// crowdNames are the scenes of entities that have a size.
var crowdNames = []string{"swarm", "clusters", "churn"}

func isCrowd(scene string) bool { return slices.Contains(crowdNames, scene) }

// crowdSizes tells their usual sizes.
func crowdSizes() string {
	var all []string
	for _, name := range crowdNames {
		p, _ := sceneParams(name)
		all = append(all, fmt.Sprintf("%s %d", name, p.entities))
	}
	return strings.Join(all, ", ")
}
