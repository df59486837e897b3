package frame

import (
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/buffer"
)

func TestRowsAreLittleEndian(t *testing.T) {
	var e Encoder
	e.Rows(buffer.Bytes([]uint32{0x01020304, 5}), 4)
	if want := []byte{4, 3, 2, 1, 5, 0, 0, 0}; !slices.Equal(e.Buf, want) {
		t.Errorf("% x", e.Buf)
	}
	if got := ReadRows(make([]uint32, 2), e.Buf, 4); got[0] != 0x01020304 || got[1] != 5 {
		t.Errorf("%x", got)
	}
}
