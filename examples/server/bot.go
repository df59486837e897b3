package main

import (
	"context"

	"github.com/evertick/evertick/examples/server/bumper"
	"github.com/evertick/evertick/replica"
	"github.com/evertick/evertick/replica/ws"
)

// guide:begin bot

// bot plays until ctx is done. It drives to the nearest disc of another player, and in
// squares while there is none. seen, if not nil, is called with each state that it gets.
func bot(ctx context.Context, addr string, seen func(me uint32, s *replica.State)) error {
	conn, err := ws.Dial(ctx, "ws://"+addr+"/world", ws.ClientConfig{Frame: func(c *replica.Client) {
		w, _ := c.Welcome()
		s := c.State()
		if s.Tick() == 0 {
			return // only the Welcome has come
		}
		if seen != nil {
			seen(w.Session, s)
		}
		if c.Waiting() < 4 { // not more than the server applies
			x, y := steer(s)
			c.Input(bumper.Thrust, []byte{byte(x), byte(y)}, 0)
		}
	}})
	if err != nil {
		return err
	}
	defer conn.Close()
	select {
	case <-ctx.Done():
		return nil
	case <-conn.Done():
		return conn.Err()
	}
}

// guide:end

// steer returns the thrust towards the nearest other player.
func steer(s *replica.State) (x, y int8) {
	xs, _ := replica.AppendValues[float32](nil, s, "position.x", 0)
	ys, _ := replica.AppendValues[float32](nil, s, "position.y", 0)
	owners, _ := replica.AppendValues[uint32](nil, s, "owner", 0)
	best, dx, dy := float32(1e9), float32(0), float32(0)
	for _, own := range s.Own() {
		for i, owner := range owners {
			ex, ey := xs[i]-xs[own], ys[i]-ys[own]
			if d := ex*ex + ey*ey; owner != 0 && owner != owners[own] && d < best {
				best, dx, dy = d, ex, ey
			}
		}
	}
	if best == 1e9 { // no other player: a square
		return [4]int8{127, 0, -127, 0}[s.Tick()/60%4], [4]int8{0, 127, 0, -127}[s.Tick()/60%4]
	}
	far := max(dx, -dx, dy, -dy, 1)
	return int8(127 * dx / far), int8(127 * dy / far)
}
