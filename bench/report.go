package main

import (
	"encoding/json"
	"fmt"
	"io"
)

// budgetNs is the time that a step may take at 60 Hz.
const budgetNs = 1_000_000_000 / 60

// deliver prints a report as one JSON object, if that was asked for, or as text.
func (o *options) deliver(w io.Writer, rep interface{ writeText(io.Writer) error }) error {
	if !o.json {
		return rep.writeText(w)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(rep)
}

// micros prints nanoseconds as microseconds.
func micros(ns int64) string { return fmt.Sprintf("%.1f", float64(ns)/1e3) }
