package gate

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// An isa says how machine code of one architecture is read. Lines are matched
// as "mnemonic operands".
type isa struct {
	fused, approximate *regexp.Regexp
	float              *regexp.Regexp // any float arithmetic, scalar or vector
	levels             map[string]level
}

// A level says what its kernels must contain, as vector arithmetic on floats
// and as any vector work, and what they must not because the CPU may lack it.
type level struct {
	vectorFloat, vector, above *regexp.Regexp
}

var (
	re = regexp.MustCompile

	// aboveSSE2 is what a plain x86-64 CPU lacks: everything with a VEX or EVEX
	// prefix, and the common instructions of SSE3 to SSE4.2 and BMI.
	aboveSSE2 = re(`^v\w|%[yz]mm|%k[0-7]|^(popcnt|lzcnt|movbe|crc32|andn|bextr|mulx|rorx|sarx|shlx|shrx|pdep|pext|bls\w+|` +
		`round[sp][sd]|dpp[sd]|ptest|insertps|extractps|p(insr|extr)[bdq]|pshufb|pmulld|pmulhrsw|pabs[bwd]|p?blend\w*|` +
		`pm(in|ax)(s[bd]|u[wd])|pmov[sz]x\w+|ph(add|sub)\w+|h(add|sub)p[sd]|addsubp[sd]|mov(shdup|sldup|ddup)|palignr|lddqu|pcmp(eqq|gtq|[ei]str\w)) `)
	evex = re(`%zmm|%k[0-7]|%[xy]mm(1[6-9]|2\d|3[01])`)
	sve  = re(`\bz\d+\.`)

	isas = map[string]isa{
		"amd64": {
			fused:       re(`^vfn?m(add|sub)`),
			approximate: re(`^v?(rsqrt|rcp)`),
			float:       re(`^v?(add|sub|mul|div|sqrt|min|max|u?comi|cmp\w*)[sp][sd] `),
			levels: map[string]level{
				"c":      {above: aboveSSE2},
				"avx2":   {re(`^v(add|sub|mul|div|sqrt|min|max|cmp\w*)p[sd] .*%ymm`), re(`^v.*%ymm`), evex},
				"avx512": {re(`^v(add|sub|mul|div|sqrt|min|max|cmp\w*)p[sd] .*%zmm`), re(`^v.*%zmm`), nil},
			},
		},
		"arm64": {
			fused:       re(`^(fn?m(add|sub)|fml[as]\w*|fcmla) `),
			approximate: re(`^(frsqrt[es]|frecp[esx]|ursqrte|urecpe) `),
			float:       re(`^f(add|sub|mul|div|sqrt|min|max|n?cm\w+|ccmp) `),
			levels: map[string]level{
				"c":    {above: sve},
				"neon": {re(`^f(add|sub|mul|div|sqrt|min|max|cm\w+) .*\.(4s|2d)`), re(`\.4s`), sve},
			},
		},
	}
)

// code is disassembled C: the instructions of each function, by its name
// without the suffixes of compiler-made clones.
type code map[string][]string

var (
	headerC = re(`^[0-9a-f]+ <([A-Za-z_]\w*)((\.(part|constprop|isra|cold|lto_priv))(\.\d+)?)*>:$`)
	anyFunc = re(`^[0-9a-f]+ <.*>:$`)
	insn    = re(`^ *[0-9a-f]+:\t(?:(?:lock|rep[nz]*|bnd|notrack|data16|cs) )*(\S+)\s*(.*)$`)
)

// disassemble reads the C functions of a binary or object file. Functions of Go
// have a dot in their name and are passed over; the few assembly routines of
// the runtime that have none do no float arithmetic.
func disassemble(objdump, file string) (code, error) {
	cmd := exec.Command(objdump, "-d", "--no-show-raw-insn", file)
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c, err := parse(pipe)
	if err != nil {
		return nil, err
	}
	return c, cmd.Wait()
}

func parse(r io.Reader) (code, error) {
	c := code{}
	name := ""
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if strings.HasSuffix(line, ">:") && anyFunc.MatchString(line) {
			name = ""
			if m := headerC.FindStringSubmatch(line); m != nil {
				name = m[1]
			}
		} else if name != "" {
			if m := insn.FindStringSubmatch(line); m != nil {
				c[name] = append(c[name], m[1]+" "+m[2])
			}
		}
	}
	return c, lines.Err()
}

// check returns the faults of the kernels, and of every other C function.
func (c code) check(a isa, kernels []string) []string {
	var faults []string
	for name, body := range c { // faults of one function stay together; their order does not matter
		if at := first(body, a.fused); at != "" {
			faults = append(faults, fmt.Sprintf("%s: fused: %s", name, at))
		}
		if at := first(body, a.approximate); at != "" {
			faults = append(faults, fmt.Sprintf("%s: approximation: %s", name, at))
		}
		entry := strings.HasPrefix(name, "et_") && !vectorLevel.MatchString(name) || strings.HasPrefix(name, "_cgo_")
		if at := first(body, a.levels["c"].above); entry && at != "" {
			faults = append(faults, fmt.Sprintf("%s: above the baseline, and runs before the CPU is known: %s", name, at))
		}
	}
	for _, k := range kernels {
		k = "et_" + k
		floats := first(c[k+"_c"], a.float) != ""
		for l, want := range a.levels {
			name := k + "_" + l
			body := c[name]
			switch {
			case len(body) == 0:
				faults = append(faults, fmt.Sprintf("%s: no such function", name))
			case floats && want.vectorFloat != nil && first(body, want.vectorFloat) == "":
				faults = append(faults, fmt.Sprintf("%s: no vector arithmetic on floats", name))
			case want.vector != nil && first(body, want.vector) == "":
				faults = append(faults, fmt.Sprintf("%s: no vector instruction", name))
			}
			if want.above != nil {
				if at := first(body, want.above); at != "" {
					faults = append(faults, fmt.Sprintf("%s: above its level: %s", name, at))
				}
			}
		}
	}
	return faults
}

func first(body []string, r *regexp.Regexp) string {
	for _, line := range body {
		if r.MatchString(line) {
			return line
		}
	}
	return ""
}

var (
	kernelC     = re(`KERNEL\(\w+, (\w+),`)
	vectorLevel = re(`_(avx2|avx512|neon)$`)
)

// kernels returns the names of the kernels in the templates of folders.
func kernels(dirs ...string) ([]string, error) {
	var files, names []string
	for _, dir := range dirs {
		found, err := filepath.Glob(filepath.Join(dir, "*_tmpl.h"))
		if err != nil || len(found) == 0 {
			return nil, fmt.Errorf("no *_tmpl.h in %s: %w", dir, err)
		}
		files = append(files, found...)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		found := kernelC.FindAllSubmatch(text, -1)
		if len(found) == 0 {
			return nil, fmt.Errorf("%s has no KERNEL(result, name, …)", filepath.Base(f))
		}
		for _, m := range found {
			names = append(names, string(m[1]))
		}
	}
	return names, nil
}

func TestCDisassembly(t *testing.T) {
	needGate(t)
	names, err := kernels(filepath.Join(repo(t), "csrc"), filepath.Join(repo(t), "csrc", "broad"), filepath.Join(repo(t), "csrc", "neighbours"),
		filepath.Join(repo(t), "csrc", "rigid"), filepath.Join(repo(t), "csrc", "space"))
	if err != nil {
		t.Fatal(err)
	}
	for _, goarch := range []string{"amd64", "arm64"} {
		t.Run(goarch, func(t *testing.T) {
			c := program(t, goarch)
			report(t, c.check(isas[goarch], names))
			for _, k := range names {
				for l, want := range isas[goarch].levels {
					if want.vectorFloat != nil {
						t.Logf("%s_%s: %d instructions, %d of them vector arithmetic on floats",
							k, l, len(c["et_"+k+"_"+l]), count(c["et_"+k+"_"+l], want.vectorFloat))
					}
				}
			}
		})
	}
}

// program builds the proof, which links all kernels as users do, and disassembles it. Its builds are those that run for the proof, too.
func program(t *testing.T, goarch string) code {
	t.Helper()
	objdump := objdumpFor(t, goarch)
	env := []string{"CGO_ENABLED=1", "GOARCH=" + goarch}
	cc := needCC(t, goarch)
	if goarch != runtime.GOARCH {
		env = append(env, "GOOS=linux", "CC="+filepath.Base(cc)) // by its path it would be another compiler to the build cache
	}
	bin := filepath.Join(t.TempDir(), "prove")
	if _, err := run(repo(t), env, "go", "build", "-o", bin, "./internal/proof/prove"); err != nil {
		t.Fatal(err)
	}
	c, err := disassemble(objdump, bin)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func objdumpFor(t *testing.T, goarch string) string {
	t.Helper()
	if goarch == runtime.GOARCH {
		return needTool(t, true, "objdump")
	}
	return needTool(t, false, gnuTool(goarch, "objdump"))
}

func count(body []string, r *regexp.Regexp) int {
	n := 0
	for _, line := range body {
		if r.MatchString(line) {
			n++
		}
	}
	return n
}

// Mutants are copies of csrc with one edit, compiled as cgo would except for
// the flags given.
func TestCDisassemblyTeeth(t *testing.T) {
	needGate(t)
	if runtime.GOARCH != "amd64" {
		t.Skip("not run: mutants of C kernels: they are written for amd64")
	}
	const (
		guards = "#if defined(__clang__)\n#pragma STDC FP_CONTRACT OFF\n#elif defined(__GNUC__)\n#pragma GCC optimize(\"fp-contract=off\")\n#endif\n"
		add    = "{ return _mm256_add_ps(a, b); }"
		tmpl   = "ops_tmpl.h"
	)
	mutants := []struct {
		name  string
		flags []string
		edits [][3]string // file, old, new
		want  string      // in a fault; none if empty
	}{
		{"none", []string{"-std=c11"}, nil, ""},
		{"fused", []string{"-std=gnu11", "-ffp-contract=fast"}, [][3]string{
			{"base.h", guards, ""},
			{"base.h", `target("avx2,popcnt")`, `target("avx2,fma,popcnt")`},
		}, "integrate_avx2: fused"},
		{"fused-gnu11", []string{"-std=gnu11"}, [][3]string{
			{"base.h", guards, ""},
			{"base.h", `target("avx2,popcnt")`, `target("avx2,fma,popcnt")`},
		}, "integrate_avx2: fused"},
		{"approximate", []string{"-std=c11"}, [][3]string{
			{"lanes.h", add, "{ return _mm256_add_ps(a, _mm256_rcp_ps(b)); }"},
		}, "integrate_avx2: approximation"},
		{"scalar-vector", []string{"-std=c11", "-fno-tree-vectorize"}, [][3]string{
			{tmpl, "\tEACH_ROW(live, n, PUT(pos", "\tfor (int64_t j = 0; j < n; j++)\n\t\tpos[j] += vel[j] * dt;\n\tif (!n)\n\t\treturn;\n\tif (0)\n\t\tEACH_ROW(live, n, PUT(pos"},
		}, "integrate_avx2: no vector arithmetic"},
		{"machine-flag", []string{"-std=c11", "-mavx2", "-DEVERTICK_ALLOW_MARCH"}, nil, "integrate_c: above its level"},
		{"wrong-level", []string{"-std=c11"}, [][3]string{
			{"base.h", `target("avx2,popcnt")`, `target("avx512f,avx512vl,popcnt")`},
			{"lanes.h", add, "{ return _mm256_maskz_add_ps((__mmask8)0xfe, a, b); }"},
		}, "integrate_avx2: above its level"},
		{"missing", []string{"-std=c11"}, [][3]string{
			{tmpl, "KERNEL(void, integrate,", "KERNEL(void, integrated,"},
			{tmpl, "et_integrate_c(", "et_integrated_c("},
		}, "integrate_avx2: no such function"},
	}
	cc, objdump := needCC(t, "amd64"), objdumpFor(t, "amd64")
	for _, m := range mutants {
		t.Run(m.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(filepath.Join(repo(t), "csrc"))); err != nil {
				t.Fatal(err)
			}
			for _, e := range m.edits {
				edit(t, filepath.Join(dir, e[0]), e[1], e[2])
			}
			args := append([]string{"-r", "-nostdlib", "-O3", "-Wno-psabi", "-o", "mutant.o"}, m.flags...)
			for _, level := range []string{"c", "avx2", "avx512"} { // units of one template: all take half a minute
				unit := level + ".c"
				write(t, dir, map[string]string{unit: "#define LEVEL " + level + "\n#include \"" + tmpl + "\"\n"})
				args = append(args, unit)
			}
			if _, err := run(dir, nil, cc, args...); err != nil {
				t.Fatal(err)
			}
			c, err := disassemble(objdump, filepath.Join(dir, "mutant.o"))
			if err != nil {
				t.Fatal(err)
			}
			faults := c.check(isas["amd64"], []string{"integrate"})
			if m.want == "" {
				report(t, faults)
				return
			}
			bites(t, faults, m.want)
		})
	}
	t.Run("template-without-kernel", func(t *testing.T) {
		dir := t.TempDir()
		write(t, dir, map[string]string{"x_tmpl.h": "static void x(void) {}\n"})
		if _, err := kernels(dir); err == nil {
			t.Error("a template without a kernel passes the gate")
		}
	})
}

// edit replaces a text in a file, which must hold it.
func edit(t *testing.T, file, old, new string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), old) {
		t.Fatalf("%s does not contain %q: bring the mutant up to date", filepath.Base(file), old)
	}
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(string(text), old, new)), 0o644); err != nil {
		t.Fatal(err)
	}
}
