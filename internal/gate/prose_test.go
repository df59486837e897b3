package gate

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// habits are words and turns over which readers have stumbled, and what to write instead.
// A file of the repository contains none of them, in names neither. Each match contains one of the words of its habit:
// a line without any of them is not searched, as the expressions would take seconds over all of the text.
var habits = []struct {
	words   string
	pattern *regexp.Regexp
	instead string
}{
	{"tell tells told telling", re(`(?i)\b(tells?|told|telling)\b`), "says, reports, returns, shows"},
	{"whoever whomever whom", re(`(?i)\b(whoever|whomever|whom)\b`), "a noun: the caller, the body, the file"},
	{"who", re(`(?i)\bwho\b`), "which or that; people alone are who: users who"},
	{"behind", re(`(?i)\bbehind (each |every |an? |the |this |that |its |one |all |both |any )*(last |next |first |whole |same )*` +
		`(tick|step|call|frame|turn|warm-up|event|command|despawn|spawn|phase|commit|build|index|sync|system|deadline|input|hook|run|test|answer|snapshot|restore)s?\b`),
		"after: behind is a place"},
	{"go goes went gone", re(`(?i)\b(go|goes|went|gone) by\b`), "uses, follows, depends on, passes"},
	{"back", re(`(?i)\b(is|are|was|were|be|been) given back\b|\bgives? (it|them) back\b`), "is returned, is released"},
	{"know knows", re(`(?i)\bknows? nothing\b`), "does not record, does not see"},
	{"feet", re(`(?i)\bbelow the feet\b`), "while it iterates"},
	{"comes", re(`(?i)\bwhat comes with\b`), "the name of the thing"},
	{"earnest vain lest late ought nothing off much", re(`(?i)\bin earnest\b|\bin vain\b|\blest\b|\bof late\b|\bought to\b|\bmakes? nothing of\b|` +
		`\bfar off\b|\bso much as\b`), "plain words"},
	{"ever", re(`(?i)\bfor ever\b`), "forever, always"},
	{"hang hangs", re(`(?i)\bhangs? on\b`), "depends on"},
	{"rouse rouses roused muster musters mustered aimmice stopfast", re(`(?i)\b(rouses?|roused|musters?|mustered|aimMice|stopFast)\b`),
		"wake, collect, updateMouseTargets, solveContinuous"},
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
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rel, _ := filepath.Rel(repo(t), file)
		for _, fault := range proseFaults(string(text)) {
			t.Errorf("%s:%s", rel, fault)
		}
	}
}

// habitWords are the words of all habits.
var habitWords = func() map[string]bool {
	all := map[string]bool{}
	for _, h := range habits {
		for _, word := range strings.Fields(h.words) {
			all[word] = true
		}
	}
	return all
}()

// hasHabitWord reports whether a word of some habit is in line, in letters of any case.
func hasHabitWord(line string) bool {
	var word [16]byte // longer ones are not among them
	n := 0
	for i := range len(line) + 1 {
		var c byte
		if i < len(line) {
			c = line[i]
		}
		switch {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_':
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		default:
			if n <= len(word) && habitWords[string(word[:n])] {
				return true
			}
			n = 0
			continue
		}
		if n < len(word) {
			word[n] = c
		}
		n++
	}
	return false
}

// proseFaults returns the bad habits in a text, with the numbers of their lines.
func proseFaults(text string) (faults []string) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		if !hasHabitWord(line) {
			continue
		}
		said := people.ReplaceAllString(line, "")
		for _, h := range habits {
			if found := h.pattern.FindString(said); found != "" {
				faults = append(faults, fmt.Sprintf("%d: %q: write %s: %s", number, found, h.instead, strings.TrimSpace(line)))
			}
		}
	}
	return faults
}

func TestPlainEnglishTeeth(t *testing.T) {
	for _, bad := range []string{
		"a timer told the Sim", "Stats tells how many there were", "They tell it", "it is telling", "whoever comes first", "to whom", "whomever", "the body who was put elsewhere",
		"it is called behind each tick", "the order goes by slots", "they go by slots", "it went by", "days gone by", "the memory is given back", "who gives it back",
		"history knows nothing of it", "they know nothing", "rows move below the feet of a query", "what comes with a row", "in earnest", "it waits in vain", "Lest it falls",
		"of late", "it ought to be", "it makes nothing of it", "far off", "so much as one", "for ever", "the result hangs on the level", "They hang on it",
		"func (s *solver) stopFast() {", "aimMice()", "it rouses", "rouse", "roused", "muster", "musters", "mustered",
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
