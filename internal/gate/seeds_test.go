package gate

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// ownSeed matches what draws a seed that nothing can repeat: from the clock, or from the stream of the process.
var ownSeed = re(`(seed\w* :?= |NewRand\(|NewPCG\(|NewSource\()(\w+\()?(time\.Now\(|rand\.[A-Z]\w*\()`)

// Tests draw their seeds by paritytest.Seed, so that EVERTICK_SEED repeats them.
func TestSeeds(t *testing.T) {
	for line, want := range map[string]bool{
		"seed := uint64(time.Now().UnixNano())":                          true,
		"seed := rand.Uint64()":                                          true,
		"seed := int64(rand.Int63())":                                    true,
		"r := loop.NewRand(uint64(time.Now().UnixNano()), 0, 0, 0)":      true,
		"rng := rand.New(rand.NewPCG(rand.Uint64(), 0))":                 true,
		"rng := rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))": true,
		"rng := rand.New(rand.NewPCG(paritytest.Seed(), 1))":             false,
		"seed := paritytest.Seed()":                                      false,
		"r := rand.New(rand.NewSource(time.Now().UnixNano()))":           true,
		"r := loop.NewRand(seed, 0, 0, 0)":                               false,
	} {
		if got := ownSeed.MatchString(line); got != want {
			t.Errorf("%s: %v", line, got)
		}
	}
	read := 0
	err := filepath.WalkDir(repo(t), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") || d.Name() == "seeds_test.go" {
			return err
		}
		text, err := os.ReadFile(path)
		if read++; err == nil && ownSeed.Match(text) {
			t.Errorf("%s: a seed that EVERTICK_SEED does not set: %s", path, ownSeed.Find(text))
		}
		return err
	})
	if err != nil || read < 300 {
		t.Errorf("%d files read: %v", read, err)
	}
}
