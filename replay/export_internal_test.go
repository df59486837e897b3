package replay

import (
	"github.com/evertick/evertick"
	"github.com/evertick/evertick/worldlog"
)

// Appender returns what writes an input, for measuring it.
func Appender(sim *evertick.Sim, log *worldlog.Log) func(tick uint64, in *evertick.Input) error {
	return attach(sim, log, Options{}).input
}

// Differing is differing.
var Differing = differing
