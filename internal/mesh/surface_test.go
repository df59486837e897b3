package mesh

import (
	"math/rand/v2"
	"testing"
)

// AppendFaces against the boxes of all triangles.
func TestFacesInBox(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	found := 0
	for range 20 {
		vertices, triangles := soup(rng)
		m, _ := cook(t, vertices, triangles)
		var s Surface = m
		all := empty
		for i := range s.Len() {
			f := s.Face(uint32(i))
			for _, v := range f.Vertices {
				all.join(&Box{v, v})
			}
		}
		if s.Bounds() != all {
			t.Fatalf("bounds %v, want %v", s.Bounds(), all)
		}
		for range 50 {
			box := Box{}
			for k := range 3 {
				box.Min[k] = 5 * rng.Float32()
				box.Max[k] = box.Min[k] + 2*rng.Float32()
			}
			var want []uint32
			for i := range m.Triangles {
				if b := m.BoxOf(&m.Triangles[i]); b.Overlaps(&box) {
					want = append(want, uint32(i))
				}
			}
			got := s.AppendFaces(nil, &box)
			if len(got) != len(want) {
				t.Fatalf("%d faces, want %d", len(got), len(want))
			}
			for i := range got {
				if got[i] != m.Face(want[i]) {
					t.Fatalf("face %d is %+v, want %+v", i, got[i], m.Face(want[i]))
				}
			}
			found += len(got)
		}
	}
	if found == 0 {
		t.Error("no box met a triangle")
	}
}
