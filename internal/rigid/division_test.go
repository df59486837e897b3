package rigid_test

import (
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// goDivisions says of each division of this package and of package broad, other than one by a number in the source, why finite operands
// give a finite result, or where one that is not finite goes. Keys are the file and the quotient.
var goDivisions = map[string]string{
	"broad/axes.go: mean / float64(max(len(sample), 1))": "float64; the divisor is at least 1",
	"broad/filter.go: (n - 1) / b.partSize(n)":           integers,
	"broad/grid.go: p * count / passes":                  integers,
	"broad/grid.go: (p + 1) * count / passes":            integers,
	"broad/grid_build.go: (n + size - 1) / size":         integers,
	"broad/grid.go: 1 / size":                            "size is at least 1e-30",
	"broad/grid.go: 1. / maxCells":                       "a constant",
	"query_tree.go: (n + Lanes - 1) / Lanes":             integers,
	"query_tree.go: i / Lanes":                           integers,
	"query_tree.go: uint(i) / Lanes":                     integers,
	"query_tree.go: len(t.targets) / Lanes":              integers,
	"query_tree.go: (end - first + Lanes - 1) / Lanes":   integers,

	"collide.go: 1 / length": "length is at least a micrometre",
	"collide_polygons.go: (float32((from-g.t2)*g.dt) - float32(g.s2*g.ds)) / (float32(g.dt*g.dt) + float32(g.ds*g.ds))": "an edge has a length; what is not between 0 and 1 is clamped, NaN too",
	"collide_polygons.go: g.t2 / g.dt":                                                      "used if t2 < 0 <= t1, so that dt is at least -t2",
	"collide_polygons.go: (g.t1 - g.side) / g.dt":                                           "used if t2 <= side < t1, so that dt is at least t1 - side",
	"contact_prepare.go: 1 / a":                                                             "a is greater than minDivisor",
	"contact_solve.go: 1 / (1 - float32(shareX*shareY))":                                    "twoPointScale keeps the divisor above 2^-12",
	"gjk.go: depth / open":                                                                  "open is at least 1e-3",
	"gjk.go: 1 / sqrt(square)":                                                              "square is positive, so its root is at least 2^-75",
	"gjk.go: float32(side*side) / square":                                                   "square is greater than t, which is positive; only compared",
	"integrate.go: 1 / (1 + float32(h*linearDamping[i]))":                                   "damping is not negative",
	"integrate.go: 1 / (1 + float32(h*angularDamping[i]))":                                  "damping is not negative",
	"integrate.go: limit / sqrt(square)":                                                    "square exceeds the square of the limit, and is positive",
	"integrate.go: 1 / (1 + square)":                                                        "a square is not negative",
	"integrate.go: cos / length":                                                            "rotations have the length one",
	"integrate.go: sin / length":                                                            "rotations have the length one",
	"joint_prepare.go: d.ImpulseScale[i] / maxFloat(d.MassScale[i], minMassScale)":          "the divisor is at least minMassScale",
	"joint_solve.go: maxBoundedError / maxPositionError":                                    "constants",
	"joint_solve.go: maxPositionError / maxFloat(size, maxPositionError)":                   "the divisor is at least maxPositionError",
	"mass.go: 2 * r / (3 * angle)":                                                          "float64; the angle of a corner is positive",
	"mass.go: sin / cos":                                                                    "float64; both are positive, and sums of products of lengths above LinearSlop",
	"mass.go: t / (1 + math.Sqrt(1+float64(t*t)))":                                          "the divisor is at least 2",
	"mass.go: 1 / float64(k)":                                                               "k is an odd number",
	"seam.go: (float64(LinearSlop*(1-along)) - d) / along":                                  "float64; along is above 1e-9",
	"seam.go: float64(length) / along":                                                      "float64; along is at least a fifth of the length of an edge",
	"query_tree.go: float32(4*size) / float32(max(len(keys), 1))":                           "the divisor is at least 1",
	"query_tree.go: curveCells / maxFloat(maxFloat(all[2]-all[0], all[3]-all[1]), 0x1p-60)": "the divisor is at least 2^-60",
	"ray.go: 1 / d": "clamped to maxReciprocal",
	"ray.go: (float32(mx*c.dx) + float32(my*c.dy)) / c.dd": "dd is a normal number; a hit that is not finite is beyond MaxT",
	"ray.go: (r2 - e) / c.dd":                              "dd is a normal number; an infinite root makes a hit at 0",
	"ray.go: 1 / sqrt(c.dd)":                               "dd is a normal number",
	"ray.go: s / -speed":                                   "speed is negative; an infinite T is beyond MaxT",
	"ray.go: -s / speed":                                   "speed is positive; an infinite exit does not limit",
	"ray.go: (s - r) / -speed":                             "speed is negative; an infinite T gives a place beside the edge, NaN too",
	"shape.go: a.x / k":                                    "float64; lengths and areas of checked shapes",
	"shape.go: a.y / k":                                    "float64; lengths and areas of checked shapes",
	"sweep.go: room / (maxFloat(-(float32(v.dx*nx)+float32(v.dy*ny)), 0) + turning)":                       "room is positive; an infinite time is after the step",
	"sweep.go: 2 * room / (speed + sqrt(float32(speed*speed)+float32(float32(2*v.maxAcceleration)*room)))": "room is positive; an infinite time is after the step",
	"sync.go: s / (root + root)": "root is at least sqrt(0.5)",
	"trees.go: soft.impulseScale / maxFloat(soft.massScale, minMassScale)": "the divisor is at least minMassScale",
	"trees.go: lane / Lanes":                    "whole numbers, and a constant",
	"trees.go: b.InvInertia[body] / heavier[i]": "heavier is at least 1",
	"trees.go: 1 / f":                           "f is above 1",
	"trees.go: 1. / treeStiffness":              "constants",
	"system.go: dt / float32(n)":                "n is at least 1",
	"system.go: 1 / (1 + stiff)":                "stiff is not negative",
	"system.go: w / c":                          "c is at least h·w; a spring whose massScale is 0 has no bias",
	"joint_prepare.go: 0.5 / math.Pi":           "a constant",
	"sweep.go: 0.5 / math.Pi":                   "a constant",
}

const integers = "integers"

// cDivisions are the divisions of kernels. Where they are those of a file in Go, for the same reason, it is that file.
// Lanes that are not used may hold anything.
var cDivisions = map[string]string{
	"rigid/bodies_tmpl.h: return DIV(one, ADD(one, MUL(V(set1)(h), V(load)(damping))));":                                                       "integrate.go",
	"rigid/bodies_tmpl.h: const V(f) scale = DIV(most, V(sqrt)(DOT(x, y, x, y)));":                                                             "integrate.go: clampSpeed selects it",
	"rigid/bodies_tmpl.h: const V(f) t = MUL(half, r[2]), square = MUL(t, t), scale = DIV(one, ADD(one, square));":                             "integrate.go",
	"rigid/bodies_tmpl.h: const V(f) unit_cos = DIV(cos, length), unit_sin = DIV(sin, length);":                                                "integrate.go",
	"broad/build_tmpl.h: const uint32_t passes = (count + DIGIT_BITS - 1) / DIGIT_BITS;":                                                       integers,
	"broad/build_tmpl.h: const uint32_t from = ET_SHAPE_BITS + p * count / passes, to = ET_SHAPE_BITS + (p + 1) * count / passes;":             integers,
	"rigid/collide_tmpl.h: const V(f) inv = V(div)(V(set1)(1.0f), length);":                                                                    "collide.go",
	"rigid/collide_tmpl.h: V(f) u = V(div)(across, dot(g->dt, g->ds, g->dt, g->ds));":                                                          "collide_polygons.go",
	"rigid/collide_tmpl.h: V(f) slo = V(choose)(below, V(sub)(g->s2, V(mul)(V(div)(g->t2, g->dt), g->ds)), g->s2);":                            "collide_polygons.go",
	"rigid/collide_tmpl.h: V(f) shi = V(choose)(above, V(sub)(g->s1, V(mul)(V(div)(V(sub)(g->t1, g->side), g->dt), g->ds)), g->s1);":           "collide_polygons.go",
	"rigid/contact_prepare_tmpl.h: HELPER(LEVEL) V(f) inverse(V(f) a) { return V(pick)(a, V(set1)(0x1p-127f), DIV(V(set1)(1.0f), a), ZERO); }": "contact_prepare.go",
	"rigid/joint_solve_tmpl.h: const V(f) damper = V(min)(MUL(part, V(set1)(max_bounded_error / max_position_error)), V(set1)(1.0f));":         "constants",
	"rigid/joint_solve_tmpl.h: const V(f) most = V(set1)(max_position_error), part = DIV(most, V(max)(size, most));":                           "the divisor is at least max_position_error",
	"rigid/contact_solve_tmpl.h: const V(f) one = V(set1)(1.0f), inverse = DIV(one, SUB(one, MUL(share_x, share_y)));":                         "contact_solve.go",
	"rigid/entities_tmpl.h: const V(f) half = DIV(v, ADD(root, root));":                                                                        "sync.go",
	"rigid/joint_prepare_tmpl.h: const V(f) impulse_scale = DIV(one, ADD(one, stiff)), mass = MUL(stiff, impulse_scale);":                      "system.go",
	"rigid/joint_prepare_tmpl.h: const spring_lanes soft = {V(pick)(mass, ZERO, DIV(w, c), ZERO), mass, impulse_scale};":                       "system.go",
	"rigid/joint_prepare_tmpl.h: const V(f) compliance = DIV(impulse_scale, V(max)(mass_scale, V(set1)(1e-12f)));":                             "joint_prepare.go",
	"rigid/query_tmpl.h: const float s = (mx * c->dx + my * c->dy) / c->dd;":                                                                   "ray.go",
	"rigid/query_tmpl.h: const float back = 1 / SQRT(c->dd);":                                                                                  "ray.go",
	"rigid/query_tmpl.h: const float inv = 1 / SQRT(square);":                                                                                  "collide.go",
	"rigid/query_tmpl.h: const float t = out / -speed;":                                                                                        "ray.go",
	"rigid/query_tmpl.h: exit = least(-out / speed, exit);":                                                                                    "ray.go",
	"rigid/query_tmpl.h: t = (s - r) / -speed;":                                                                                                "ray.go",
	"rigid/rows_lanes.h: #define DIV(a, b) V(div)(a, b)":                                                                                       "its uses are in this list",
}

// Every division is in the lists above, and nothing else is.
func TestDivisionsAreSafe(t *testing.T) {
	found := map[string]bool{}
	files, _ := filepath.Glob("*.go")
	more, _ := filepath.Glob("../broad/*.go")
	for _, name := range append(files, more...) {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		set := token.NewFileSet()
		f, err := parser.ParseFile(set, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		quotient := func(x, y ast.Expr) {
			if _, constant := y.(*ast.BasicLit); constant {
				return
			}
			var b strings.Builder
			if err := printer.Fprint(&b, set, &ast.BinaryExpr{X: x, Op: token.QUO, Y: y}); err != nil {
				t.Fatal(err)
			}
			found[strings.TrimPrefix(name, "../")+": "+b.String()] = true
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BinaryExpr:
				if n.Op == token.QUO {
					quotient(n.X, n.Y)
				}
			case *ast.AssignStmt:
				if n.Tok == token.QUO_ASSIGN {
					quotient(n.Lhs[0], n.Rhs[0])
				}
			}
			return true
		})
	}
	compareDivisions(t, found, goDivisions)

	found = map[string]bool{}
	files, _ = filepath.Glob("../../csrc/rigid/*_*.h")
	more, _ = filepath.Glob("../../csrc/broad/*_*.h")
	for _, name := range append(files, more...) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(text), "\n") {
			if code := strings.TrimSpace(comment.ReplaceAllString(line, "")); quotientInC.MatchString(code) {
				found[strings.TrimPrefix(filepath.ToSlash(name), "../../csrc/")+": "+code] = true
			}
		}
	}
	compareDivisions(t, found, cDivisions)
}

var (
	comment     = regexp.MustCompile(`/\*.*|^\s*\*.*|//.*`)
	quotientInC = regexp.MustCompile(`DIV\(|V\(div\)\(|[\w)\]] / -?[A-Za-z_(]`)
)

func compareDivisions(t *testing.T, found map[string]bool, listed map[string]string) {
	for q := range found {
		if listed[q] == "" {
			t.Errorf("say why this division is safe: %q", q)
		}
	}
	for q := range listed {
		if !found[q] {
			t.Errorf("there is no such division: %q", q)
		}
	}
}
