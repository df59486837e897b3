package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
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

// tabled is a report that can be written as a table, too.
type tabled interface {
	writeText(io.Writer) error
	writeCSV(io.Writer) error
}

// table reports what measure returns, also into the file of -csv, which is made before minutes are spent. The
// head is printed before, unless -json was given.
func (o *options) table(stdout io.Writer, head string, measure func() (tabled, error)) error {
	var file *os.File
	if o.csv != "" {
		var err error
		if file, err = os.Create(o.csv); err != nil {
			return err
		}
		defer file.Close()
	}
	if !o.json {
		fmt.Fprint(stdout, head)
	}
	rep, err := measure()
	if err != nil {
		return err
	}
	if file != nil {
		if err := errors.Join(rep.writeCSV(file), file.Close()); err != nil {
			return err
		}
	}
	return o.deliver(stdout, rep)
}

// micros prints nanoseconds as microseconds.
func micros(ns int64) string { return fmt.Sprintf("%.1f", float64(ns)/1e3) }
