package valley

import (
	"encoding/binary"
	"fmt"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/physics3"
)

// stateBytes is the length of the state before that of the wheels.
const stateBytes = 8*dolls*bones + 4*cars + 8

// AppendState implements evertick.State.
func (v *valley) AppendState(dst []byte) []byte {
	for i := range v.dolls {
		for _, b := range v.dolls[i] {
			dst = binary.LittleEndian.AppendUint64(dst, b.Bits())
		}
	}
	for _, n := range v.stuck {
		dst = binary.LittleEndian.AppendUint32(dst, n)
	}
	dst = binary.LittleEndian.AppendUint64(dst, v.fallen)
	return v.cars.AppendState(dst)
}

// RestoreState implements evertick.State.
func (v *valley) RestoreState(src []byte) error {
	if len(src) < stateBytes {
		return fmt.Errorf("valley: bytes of the state: %d: %w", len(src), evertick.ErrCorrupt)
	}
	if err := v.cars.SetState(src[stateBytes:]); err != nil {
		return err
	}
	for i := range v.dolls {
		for k := range v.dolls[i] {
			v.dolls[i][k] = physics3.BodyOfBits(binary.LittleEndian.Uint64(src))
			src = src[8:]
		}
	}
	for i := range v.stuck {
		v.stuck[i] = binary.LittleEndian.Uint32(src)
		src = src[4:]
	}
	v.fallen = binary.LittleEndian.Uint64(src)
	return nil
}
