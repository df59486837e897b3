package gate

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// Mutants of kernels that take the other side where two numbers are equal, or lack what rounding needs, and the
// tests that must notice. One build has them all; a variable of the environment chooses.
var boundaryMutants = []struct{ name, file, old, new, pkg string }{
	{"limit at its bound", "csrc/rigid/joint_solve_tmpl.h", "V(pick)(x, ZERO, V(set1)(1.0f), deep.mass_scale)",
		"V(pick)(ZERO, x, deep.mass_scale, V(set1)(1.0f))", "internal/rigid"},
	{"point at its greatest force", "csrc/rigid/joint_solve_tmpl.h", "V(lt)(MUL(limit, limit), DOT(x, y, x, y))",
		"V(le)(MUL(limit, limit), DOT(x, y, x, y))", "internal/rigid"},
	{"contact at distance 0", "csrc/rigid/contact_solve_tmpl.h", "V(pick)(separation, ZERO, V(set1)(1.0f), V(set1)(soft->mass_scale))",
		"V(pick)(ZERO, separation, V(set1)(soft->mass_scale), V(set1)(1.0f))", "internal/rigid"},
	{"approach at the threshold", "csrc/rigid/contact_solve_tmpl.h", "V(lt)(approach, V(set1)(-threshold))",
		"V(le)(approach, V(set1)(-threshold))", "internal/rigid"},
	{"discs at the margin", "csrc/rigid/collide_tmpl.h", "V(both)(f.ok, V(upto)(separation, V(set1)(SPECULATIVE)))",
		"V(both)(f.ok, V(less)(separation, V(set1)(SPECULATIVE)))", "internal/rigid"},
	{"equal axes", "csrc/rigid/collide_tmpl.h", "V(less)(*most, s)", "V(upto)(*most, s)", "internal/rigid"},
	{"equal separations", "csrc/rigid/collide_tmpl.h", "V(less)(V(add)(sa, V(set1)(REFERENCE_TOLERANCE)), sb)",
		"V(upto)(V(add)(sa, V(set1)(REFERENCE_TOLERANCE)), sb)", "internal/rigid"},
	{"turn by a cosine alone", "csrc/rigid/bodies_tmpl.h",
		"V(nequ)(V(asu)(r[6]), one) | V(nequ)(V(asu)(V(abs)(r[7])), zero)", "V(nequ)(V(asu)(V(abs)(r[7])), zero)", "internal/rigid"},
	{"zero of an entity", "csrc/rigid/entities_tmpl.h", "s->flip ? SUB(ZERO, sin) : sin", "s->flip ? V(negate)(sin) : sin", "internal/rigid"},
	{"no slack at the edges of cells", "csrc/neighbours/radius_tmpl.h", "V(set1)(magnitude * 9.5367431640625e-7f)", "V(set1)(0.0f)", "internal/neighbours"},
}

func TestBoundaryTeeth(t *testing.T) {
	needGate(t)
	if testing.Short() {
		t.Skip("all kernels again: -short")
	}
	needTool(t, true, "gcc")
	const chosen = "#include <stdlib.h>\nstatic int et_mutant;\n__attribute__((constructor)) static void choose_mutant(void) {\n" +
		"\tconst char *s = getenv(\"ET_MUTANT\");\n\tet_mutant = s ? atoi(s) : 0;\n}\n"
	changes := []change{ // an overlay reaches the headers of a package's own folder only
		{"csrc/neighbours/points.h", "#include \"../base.h\"\n", "#include \"../base.h\"\n" + chosen},
		{"csrc/rigid/rigid.h", "#include \"../base.h\"\n", "#include \"../base.h\"\n" + chosen},
	}
	for i, m := range boundaryMutants {
		changes = append(changes, change{m.file, m.old, fmt.Sprintf("(et_mutant == %d ? (%s) : (%s))", i+1, m.new, m.old)})
	}
	file, dir := overlay(t, changes), t.TempDir()
	test := func(mutant int, pkg string) error {
		_, err := run(filepath.Join(repo(t), pkg), []string{fmt.Sprint("ET_MUTANT=", mutant)},
			filepath.Join(dir, filepath.Base(pkg)), "-test.run", "AtBoundaries|AtTheirBounds|AtCellEdges")
		return err
	}
	for _, pkg := range []string{"internal/neighbours", "internal/rigid"} {
		if _, err := run(repo(t), nil, "go", "test", "-c", "-overlay", file, "-o", filepath.Join(dir, filepath.Base(pkg)), "./"+pkg); err != nil {
			t.Fatal(err)
		}
		if err := test(0, pkg); err != nil {
			t.Fatalf("without a mutant: %v", err)
		}
	}
	for i, m := range boundaryMutants {
		if err := test(i+1, m.pkg); err == nil || !strings.Contains(err.Error(), "--- FAIL") {
			t.Errorf("%s: the tests let a mutant through: %v", m.name, err)
		}
	}
}
