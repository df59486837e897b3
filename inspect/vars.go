package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
)

// Var returns the figures of /metrics as a variable for expvar.Publish, under a name that the program chooses. This
// package publishes nothing itself, and does not import expvar, which would answer /debug/vars on
// http.DefaultServeMux.
func (h *Handler) Var() fmt.Stringer { return variable{h} }

type variable struct{ *Handler }

// String implements expvar.Var.
func (v variable) String() string { return string(marshal(v.figures(context.Background()).tree())) }

// vars returns what expvar shows, with the figures as "evertick".
func (h *Handler) vars(ctx context.Context) []byte {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return marshal(map[string]any{"cmdline": os.Args, "memstats": &memory, "evertick": h.figures(ctx).tree()})
}

func marshal(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic("inspect: figures that are no JSON")
	}
	return data
}
