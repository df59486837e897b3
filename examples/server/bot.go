package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
)

// bot plays until done returns true, or ctx is done. It drives to the nearest disc of another
// player, and in squares while there is none.
func bot(ctx context.Context, addr string, done func(me uint16, v *view) bool) error {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	head := make([]byte, 4)
	if _, err := io.ReadFull(conn, head); err != nil {
		return err
	}
	me, v := uint16(binary.LittleEndian.Uint32(head)), &view{}
	for {
		if _, err := io.ReadFull(conn, head); err != nil {
			return err
		}
		n := binary.LittleEndian.Uint32(head)
		if n > mostMessage {
			return fmt.Errorf("a message of %d bytes", n)
		}
		body := make([]byte, n)
		if _, err := io.ReadFull(conn, body); err != nil {
			return err
		}
		if err := v.apply(body); err != nil {
			return err
		}
		if done(me, v) {
			return nil
		}
		x, y := v.steer(me)
		if _, err := conn.Write([]byte{byte(x), byte(y)}); err != nil {
			return err
		}
	}
}

// steer returns the thrust towards the nearest other player. Bots are players: what
// they compute need not be the same on every machine.
func (v *view) steer(me uint16) (x, y int8) {
	var own spot
	for _, s := range v.discs {
		if s.owner == me {
			own = s
		}
	}
	best, dx, dy := 1<<62, 0, 0
	for _, s := range v.discs {
		ex, ey := int(s.x)-int(own.x), int(s.y)-int(own.y)
		if d := ex*ex + ey*ey; s.owner != me && s.owner != 0 && d < best {
			best, dx, dy = d, ex, ey
		}
	}
	if best == 1<<62 { // no other player: a square
		return [4]int8{127, 0, -127, 0}[v.tick/60%4], [4]int8{0, 127, 0, -127}[v.tick/60%4]
	}
	far := max(dx, -dx, dy, -dy, 1)
	return int8(127 * dx / far), int8(127 * dy / far)
}
