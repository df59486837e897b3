package gate

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// habits are words and turns over which readers have stumbled, and what to write instead.
// A file of the repository contains none of them, in names neither.
var habits = []struct {
	pattern *regexp.Regexp
	instead string
}{
	{re(`(?i)\b(tells?|told|telling)\b`), "says, reports, returns, shows"},
	{re(`(?i)\b(whoever|whomever|whom)\b`), "a noun: the caller, the body, the file"},
	{re(`(?i)\bwho\b`), "which or that; people alone are who: users who"},
	{re(`(?i)\bbehind (each |every |an? |the |this |that |its |one |all |both |any )*(last |next |first |whole |same )*` +
		`(tick|step|call|frame|turn|warm-up|event|command|despawn|spawn|phase|commit|build|index|sync|system|deadline|input|hook|run|test|answer|snapshot|restore)s?\b`),
		"after: behind is a place"},
	{re(`(?i)\b(goes|go|went|gone) by\b`), "uses, follows, depends on, passes"},
	{re(`(?i)\b(is|are|was|were|be|been) given back\b|\bgives? (it|them) back\b`), "is returned, is released"},
	{re(`(?i)\bknows? nothing\b`), "does not record, does not see"},
	{re(`(?i)\bbelow the feet\b`), "while it iterates"},
	{re(`(?i)\bwhat comes with\b`), "the name of the thing"},
	{re(`(?i)\bin earnest\b|\bin vain\b|\blest\b|\bof late\b|\bought to\b|\bmakes? nothing of\b|\bfar off\b|\bso much as\b`), "plain words"},
	{re(`(?i)\bfor ever\b`), "forever, always"},
	{re(`(?i)\bhangs? on\b`), "depends on"},
	{re(`(?i)\b(rouses?|roused|musters?|mustered|aimMice|stopFast)\b`), "wake, collect, updateMouseTargets, solveContinuous"},
}

// people matches the nouns after which "who" is right.
var people = re(`(?i)\b(those|people|users?|readers?|programmers?|some(body|one)|any(body|one)|every(body|one)|players?|maintainers?|` +
	`engineers?|contributors?|newcomers?|strangers?|authors?|designers?|operators?|attackers?|person)( of \w+)?,? who\b`)

// notProse are folders with files of others, or of formats.
var notProse = []string{".git", "node_modules", "testdata", "results"}

func TestPlainEnglish(t *testing.T) {
	var files []string
	err := filepath.WalkDir(repo(t), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if slices.Contains(notProse, d.Name()) {
				return filepath.SkipDir
			}
			return nil
		case !slices.Contains([]string{".go", ".c", ".h", ".md", ".py", ".sh"}, filepath.Ext(path)) || d.Name() == "prose_test.go":
			return nil
		}
		files = append(files, path)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 300 {
		t.Errorf("only %d files read", len(files))
	}
	// Expressions over all of the text take seconds.
	var readers sync.WaitGroup
	n := runtime.GOMAXPROCS(0)
	for k := range n {
		readers.Go(func() {
			for i := k; i < len(files); i += n {
				text, err := os.ReadFile(files[i])
				if err != nil {
					t.Error(err)
				}
				rel, _ := filepath.Rel(repo(t), files[i])
				for _, fault := range proseFaults(string(text)) {
					t.Errorf("%s:%s", rel, fault)
				}
			}
		})
	}
	readers.Wait()
}

// anyHabit finds every habit, in one pass over a text.
var anyHabit = func() *regexp.Regexp {
	var all []string
	for _, h := range habits {
		all = append(all, strings.TrimPrefix(h.pattern.String(), "(?i)"))
	}
	return re("(?i)" + strings.Join(all, "|"))
}()

// proseFaults returns the bad habits in a text, with the numbers of their lines.
func proseFaults(text string) (faults []string) {
	for _, at := range anyHabit.FindAllStringIndex(text, -1) {
		start := strings.LastIndexByte(text[:at[0]], '\n') + 1
		line, _, _ := strings.Cut(text[start:], "\n")
		said := people.ReplaceAllString(line, "")
		for _, h := range habits {
			if found := h.pattern.FindString(said); found != "" {
				faults = append(faults, fmt.Sprintf("%d: %q: write %s: %s", 1+strings.Count(text[:start], "\n"), found, h.instead, strings.TrimSpace(line)))
			}
		}
	}
	return slices.Compact(faults)
}

func TestPlainEnglishTeeth(t *testing.T) {
	for _, bad := range []string{
		"a timer told the Sim", "Stats tells how many there were", "whoever comes first", "the body who was put elsewhere",
		"it is called behind each tick", "the order goes by slots", "the memory is given back", "history knows nothing of it",
		"rows move below the feet of a query", "what comes with a row", "it waits in vain", "the result hangs on the level", "func (s *solver) stopFast() {",
	} {
		if proseFaults(bad) == nil {
			t.Errorf("%q passes", bad)
		}
	}
	for _, good := range []string{
		"users who build servers", "for those who read logs", "the client falls behind", "a body behind the wall is hidden", "a storyteller", "the whole row",
	} {
		if f := proseFaults(good); f != nil {
			t.Errorf("refused: %s", f)
		}
	}
}
