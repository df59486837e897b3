package stage

import "github.com/evertick/evertick/internal/statehash"

// Hashes are the hashes of the results of the stages of the last step, in order. Where two runs diverge, the first hash that
// differs names the stage.
type Hashes struct {
	On   bool // the engine hashes the results of its stages
	List []statehash.Column
}

// Clear empties the list at the beginning of a step.
func (h *Hashes) Clear() { h.List = h.List[:0] }

// Add appends a hash. The engine calls it if On.
func (h *Hashes) Add(name string, hash uint64) {
	h.List = append(h.List, statehash.Column{Name: name, Hash: hash})
}
