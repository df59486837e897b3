package native_test

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/klauspost/cpuid/v2"
)

// envAllowMissing lets a host pass that does not offer a level which its CPU
// has, for builds with a compiler that cannot make it.
const envAllowMissing = "EVERTICK_ALLOW_MISSING_LEVEL"

// A level that silently goes missing would turn the parity tests into tests of
// nothing.
func TestParityLevelsAreThere(t *testing.T) {
	expected := map[native.Level]bool{
		native.Go:     true,
		native.C:      builtWithCgo,
		native.AVX2:   builtWithCgo && runtime.GOARCH == "amd64" && cpuid.CPU.Has(cpuid.AVX2),
		native.AVX512: builtWithCgo && runtime.GOARCH == "amd64" && cpuid.CPU.Has(cpuid.AVX512F),
		native.NEON:   builtWithCgo && runtime.GOARCH == "arm64",
	}
	t.Logf("parity: %s", native.Info())
	for level, want := range expected {
		switch got := slices.Contains(native.Levels(), level); {
		case want && !got && os.Getenv(envAllowMissing) != "1":
			t.Errorf("level %s is missing, though this host has it (%s=1 lets that pass): %v", level, envAllowMissing, native.Info())
		case got && !want:
			t.Errorf("level %s is offered on a host that lacks it", level)
		}
	}
}

func TestLevelsAscend(t *testing.T) {
	levels := native.Levels()
	if levels[0] != native.Go || !slices.IsSorted(levels) {
		t.Errorf("Levels() = %v", levels)
	}
	levels[0] = native.NEON
	if native.Levels()[0] != native.Go {
		t.Error("Levels shares its slice with the caller")
	}
}

func TestParseLevel(t *testing.T) {
	for _, level := range []native.Level{native.Auto, native.Go, native.C, native.AVX2, native.AVX512, native.NEON} {
		if got, err := native.ParseLevel(level.String()); got != level || err != nil {
			t.Errorf("ParseLevel(%q) = %v, %v", level, got, err)
		}
	}
	for _, name := range []string{"", "AVX2", "avx-2", "avx", "sse", " go", "auto ", "Level(1)"} {
		_, err := native.ParseLevel(name)
		if !errors.Is(err, native.ErrUnsupported) || !strings.Contains(err.Error(), "auto, go, c, avx2, avx512, neon") {
			t.Errorf("ParseLevel(%q): %v", name, err)
		}
	}
	if got := native.Level(77).String(); got != "Level(77)" {
		t.Errorf("Level(77) is called %q", got)
	}
}

func TestResolve(t *testing.T) {
	for _, level := range native.Levels() {
		if got, err := native.Resolve(level); got != level || err != nil {
			t.Errorf("Resolve(%s) = %s, %v", level, got, err)
		}
	}
	for _, level := range []native.Level{native.C, native.AVX2, native.AVX512, native.NEON, 99} {
		if slices.Contains(native.Levels(), level) {
			continue
		}
		_, err := native.Resolve(level)
		if !errors.Is(err, native.ErrUnsupported) || !strings.Contains(err.Error(), level.String()) || !strings.Contains(err.Error(), "run go") {
			t.Errorf("Resolve(%s): %v", level, err)
		}
	}
}

func TestInfo(t *testing.T) {
	info := native.Info()
	if !slices.Equal(info.Levels, native.Levels()) || info.CPU == "" {
		t.Errorf("%+v", info)
	}
	if (info.Compiler != "") != builtWithCgo {
		t.Errorf("compiler %q", info.Compiler)
	}
	text := native.Information{Level: native.Go, Levels: []native.Level{native.Go, native.C}, Compiler: "gcc 12.2",
		Refused: []string{"level x fuses"}, Err: errors.New("no such level")}.String()
	if want := "level go of go, c; kernels built by gcc 12.2; refused: level x fuses; no such level"; text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
	text = native.Information{Level: native.Go, Levels: []native.Level{native.Go}}.String()
	if want := "level go of go; pure Go: built without kernels in C (no C compiler, CGO_ENABLED=0 or -tags purego)"; text != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

// envChild names for a child process of TestEnvironmentChoosesTheLevel what to
// expect of Auto: the name of a level, or "error".
const envChild = "EVERTICK_TEST_AUTO"

func TestEnvironmentChoosesTheLevel(t *testing.T) {
	if want := os.Getenv(envChild); want != "" {
		autoMustBe(t, want)
		return
	}
	levels := native.Levels()
	best := levels[len(levels)-1].String()
	cases := map[string]string{"": best, "auto": best, "avx3": "error", "GO": "error"}
	for _, level := range levels {
		cases[level.String()] = level.String()
	}
	for _, level := range []native.Level{native.AVX2, native.NEON} {
		if !slices.Contains(levels, level) {
			cases[level.String()] = "error"
		}
	}
	for name, want := range cases {
		out, err := paritytest.Child(t, "TestEnvironmentChoosesTheLevel", native.EnvLevel+"="+name, envChild+"="+want)
		if err != nil {
			t.Errorf("%s=%s: want %s: %v\n%s", native.EnvLevel, name, want, err, out)
		}
	}
}

// autoMustBe checks what Auto stands for in this process.
func autoMustBe(t *testing.T, want string) {
	level, err := native.Resolve(native.Auto)
	info := native.Info()
	if want != "error" {
		if err != nil || info.Err != nil || level.String() != want || info.Level != level {
			t.Errorf("Auto is %s, %v; want %s; %s", level, err, want, info)
		}
		return
	}
	if !errors.Is(err, native.ErrUnsupported) || !errors.Is(info.Err, native.ErrUnsupported) {
		t.Fatalf("Resolve: %v; Info: %v", err, info.Err)
	}
	for _, part := range append([]string{native.EnvLevel, os.Getenv(native.EnvLevel)}, "go") {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not say %q: %v", part, err)
		}
	}
	if !strings.Contains(info.String(), err.Error()) {
		t.Errorf("Info does not show the error: %s", info)
	}
	expectPanic(t, "native: the level cannot run here; see Resolve", func() { native.Integrate(native.Auto, nil, nil, 1) })
}

func TestLevelsPassTheirSelfCheck(t *testing.T) {
	for _, level := range native.Levels() {
		if err := native.SelfCheck(level); err != nil {
			t.Error(err)
		}
	}
}
