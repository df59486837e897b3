package neighbours

import "github.com/evertick/evertick/native"

// RecordLen is the number of values of a Record.
const RecordLen = 8

// SpreadColumns is the largest number of columns of SpreadRecords.
const SpreadColumns = 16

// A Record has some values of a point, or of a row.
type Record [RecordLen]float32

// FillRecords sets value k of records[place[s]] to the value of slot s in column k, or to none if that column is nil, for the
// slots s from first to last-1 whose place is not NoSlot. If place is nil, place[s] is s. The values from len(columns)
// on become none.
//
// It panics where lengths do not fit, and on a level that Resolve refuses; it does not check places.
func FillRecords(level native.Level, columns [][]float32, none float32, place []uint32, first, last int, records []Record) {
	checkColumns("neighbours: FillRecords: columns or place do not fit", columns, RecordLen, place, first, last)
	if place == nil && last > len(records) {
		panic("neighbours: FillRecords: records is too short")
	}
	if level = must(level); level != native.Go && first < last {
		fillRecordsC(columns, none, place, first, last, records)
		return
	}
	for k := range RecordLen {
		var column []float32
		if k < len(columns) {
			column = columns[k]
		}
		for s := first; s < last; s++ {
			at, v := uint32(s), none
			if place != nil {
				at = place[s]
			}
			if column != nil {
				v = column[s]
			}
			if at != native.NoSlot {
				records[at][k] = v
			}
		}
	}
}

// checkColumns panics unless all columns that are not nil, and place, have slots first to last-1.
func checkColumns(message string, columns [][]float32, most int, place []uint32, first, last int) {
	ok := len(columns) <= most && first >= 0 && first <= last && (place == nil || last <= len(place))
	for _, c := range columns {
		ok = ok && (c == nil || last <= len(c))
	}
	if !ok {
		panic(message)
	}
}

// SpreadRecords sets columns[k][s] to value number value[k] of records[k][place[s]], for the slots s from first to last-1
// whose place is not NoSlot. It panics where lengths do not fit, and on a level that Resolve refuses; it does not check
// places.
func SpreadRecords(level native.Level, records [][]Record, value []int, place []uint32, first, last int, columns [][]float32) {
	checkColumns("neighbours: SpreadRecords: columns or place do not fit", columns, SpreadColumns, place, first, last)
	if place == nil || len(records) != len(columns) || len(value) != len(columns) {
		panic("neighbours: SpreadRecords: records, value and columns differ in length")
	}
	for k, v := range value {
		if v < 0 || v >= RecordLen || len(records[k]) == 0 || columns[k] == nil {
			panic("neighbours: SpreadRecords: value is out of range, or there are no records")
		}
	}
	if level = must(level); level != native.Go && first < last {
		spreadRecordsC(records, value, place, first, last, columns)
		return
	}
	for k, column := range columns {
		from, v := records[k], value[k]
		for s, at := range place[first:last] {
			if at != native.NoSlot {
				column[first+s] = from[at][v]
			}
		}
	}
}
