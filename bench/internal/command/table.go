package command

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"text/tabwriter"
)

// Table holds figures. It is what the reports print, and what programs read as CSV or JSON.
type Table struct {
	Columns []Column
	rows    [][]any // one cell for each column; nil: no value
}

type Column struct {
	Name   string           // in CSV and JSON, with the unit at its end; empty: only in text
	head   string           // in text; empty: only in CSV and JSON
	format func(any) string // in text; nil: cellText
}

// TextTable returns a table that is only printed.
func TextTable(heads ...string) *Table {
	t := &Table{}
	for _, head := range heads {
		t.Columns = append(t.Columns, Column{head: head})
	}
	return t
}

func (t *Table) Add(cells ...any) { t.rows = append(t.rows, cells) }

// WriteText writes the columns that have a head, aligned to the right, and an empty line.
func (t *Table) WriteText(w io.Writer) {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	line := func(text func(i int, c *Column) string) {
		for i := range t.Columns {
			if c := &t.Columns[i]; c.head != "" {
				fmt.Fprint(out, text(i, c), "\t")
			}
		}
		fmt.Fprintln(out)
	}
	line(func(_ int, c *Column) string { return c.head })
	for _, row := range t.rows {
		line(func(i int, c *Column) string {
			if c.format == nil || row[i] == nil {
				return cellText(row[i])
			}
			return c.format(row[i])
		})
	}
	out.Flush()
	fmt.Fprintln(w)
}

// cellText formats a cell for people.
func cellText(cell any) string {
	switch v := cell.(type) {
	case nil:
		return "–"
	case float64:
		return figure(v)
	case int:
		return Count(v)
	}
	return fmt.Sprint(cell)
}

// writeCSV writes a header and a line for each row. A cell without a value is empty.
func (t *Table) writeCSV(w io.Writer) error {
	out := csv.NewWriter(w)
	line := func(text func(i int) string) {
		var fields []string
		for i, c := range t.Columns {
			if c.Name != "" {
				fields = append(fields, text(i))
			}
		}
		out.Write(fields) // out.Error returns the first error
	}
	line(func(i int) string { return t.Columns[i].Name })
	for _, row := range t.rows {
		line(func(i int) string {
			switch v := row[i].(type) {
			case nil:
				return ""
			case float64:
				return fmt.Sprintf("%.6g", v)
			}
			return fmt.Sprint(row[i])
		})
	}
	out.Flush()
	return out.Error()
}

// MarshalJSON returns a list of objects whose fields are in the order of the columns. A cell
// without a value is left out.
func (t Table) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('[')
	for r, row := range t.rows {
		if r > 0 {
			b.WriteByte(',')
		}
		separator := "{"
		for i, c := range t.Columns {
			if c.Name == "" || row[i] == nil {
				continue
			}
			value, err := json.Marshal(row[i])
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.Name, err)
			}
			fmt.Fprintf(&b, "%s%q:%s", separator, c.Name, value)
			separator = ","
		}
		b.WriteByte('}')
	}
	b.WriteByte(']')
	return b.Bytes(), nil
}

// figure formats a number with about three digits, or with all before the point.
func figure(v float64) string {
	switch {
	case v < 1:
		return fmt.Sprintf("%.3f", v)
	case v < 10:
		return fmt.Sprintf("%.2f", v)
	case v < 100:
		return fmt.Sprintf("%.1f", v)
	}
	return Whole(v)
}

// Whole formats the digits before the point, with a comma between each three.
func Whole(v float64) string {
	digits := fmt.Sprintf("%.0f", v)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// Count formats a whole number likewise.
func Count(n int) string { return Whole(float64(n)) }

// short formats a number without digits that carry no information: 20, 0.25, 25,400.
func short(v float64) string {
	if v < 100 {
		return fmt.Sprintf("%.3g", v)
	}
	return Whole(v)
}

// micros formats nanoseconds as microseconds.
func micros(ns int64) string { return fmt.Sprintf("%.1f", float64(ns)/1e3) }

// interval formats a ratio with its interval.
func interval(median, low, high float64) string {
	return fmt.Sprintf("%.2f [%.2f–%.2f]", median, low, high)
}
