package replay

import (
	"testing"

	"github.com/evertick/evertick"
)

// ballast is a state of so many bytes.
type ballast int

func (b ballast) AppendState(dst []byte) []byte { return append(dst, make([]byte, b)...) }
func (b ballast) RestoreState([]byte) error     { return nil }

// What a Sim holds as it is built counts in the limit of its snapshots, twice, whatever it is.
func TestSnapshotLimitCountsWhatIsBuilt(t *testing.T) {
	limit := func(bytes int) int {
		sim, err := evertick.New(evertick.Config{Capacity: 16})
		if err != nil {
			t.Fatal(err)
		}
		if err := sim.AddState("ballast", ballast(bytes)); err != nil {
			t.Fatal(err)
		}
		return Scenario{}.maxSnapshot(sim)
	}
	if more := limit(1<<20) - limit(0); more != 2<<20 {
		t.Errorf("a state of 1 MiB raises the limit by %d bytes", more)
	}
}
