package command

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/evertick/evertick/ecs"
)

func TestHashesAreReadAsWritten(t *testing.T) {
	s := newTestScene(t, "limina", 1)
	var file bytes.Buffer
	var want []tickHashes
	for range 3 {
		advance(t, s, 1)
		want = append(want, s.tickHashes())
		if err := s.tickHashes().write(&file); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readHashes(&file)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("read %v, %v, want %v", got, err, want)
	}
	if _, err := readHashes(strings.NewReader("1 00ff seed\n1 zz tick\n")); err == nil || !strings.Contains(err.Error(), "1 zz tick") {
		t.Errorf("an invalid line: %v", err)
	}
}

// readHashes reads the lines that write wrote, tick after tick.
func readHashes(r io.Reader) ([]tickHashes, error) {
	var all []tickHashes
	for lines := bufio.NewScanner(r); ; {
		if !lines.Scan() {
			return all, lines.Err()
		}
		var tick uint64
		var p ecs.ColumnHash
		if _, err := fmt.Sscanf(lines.Text(), "%d %x %s", &tick, &p.Hash, &p.Name); err != nil {
			return nil, fmt.Errorf("line %q: %w", lines.Text(), err)
		}
		if len(all) == 0 || all[len(all)-1].tick != tick {
			all = append(all, tickHashes{tick: tick})
		}
		last := &all[len(all)-1]
		last.parts = append(last.parts, p)
	}
}
