package inspector

import (
	"fmt"
	"net/url"
	"strconv"

	"github.com/evertick/evertick/internal/fault"
)

// flag returns a parameter that is 0 or 1.
func flag(q url.Values, name string, usual bool) (bool, error) {
	switch v := q.Get(name); v {
	case "":
		return usual, nil
	case "0", "1":
		return v == "1", nil
	default:
		return false, fault.Field(fault.ErrRange, "inspector: "+name, fmt.Sprintf("%.40q", v))
	}
}

// wholeNumber returns a parameter that is a whole number.
func wholeNumber(q url.Values, name string, usual uint64) (uint64, error) {
	v := q.Get(name)
	if v == "" {
		return usual, nil
	}
	n, err := strconv.ParseUint(v, 10, 64)
	if err != nil {
		return 0, fault.Field(fault.ErrRange, "inspector: "+name, fmt.Sprintf("%.40q", v))
	}
	return n, nil
}

// countOf returns a parameter that is a whole number up to most.
func countOf(q url.Values, name string, usual, most int) (int, error) {
	n, err := wholeNumber(q, name, uint64(usual))
	if err == nil && n > uint64(most) {
		err = fault.Field(fault.ErrRange, "inspector: "+name, n)
	}
	return int(n), err
}
