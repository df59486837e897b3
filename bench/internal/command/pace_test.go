package command

import "github.com/evertick/evertick/internal/pace"

// Helpers take part in all that tests compute.
func init() { pace.Always = true }
