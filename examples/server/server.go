package main

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"log"
	"net"
	"sync"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop/replay"
)

const (
	ticksPerMessage = 3 // of 60 a second: 20 messages a second
	mostPlayers     = 64
	backlog         = 8 // messages that wait for a player with a slow connection
)

// server lets players connect to a game.
type server struct {
	sim   *evertick.Sim
	owner *ecs.Column[uint16]
	sent  picture // used by the goroutine of the Sim only

	mu      sync.Mutex
	players map[uint32]*player
	last    uint32 // player number
	closed  bool
	running sync.WaitGroup
}

type player struct {
	conn   net.Conn
	out    chan []byte
	behind bool // a message was skipped, so the next one must hold the whole state
}

func newServer(sim *evertick.Sim) (*server, error) {
	owner, ok := ecs.FindColumn[uint16](sim.World, "owner")
	if !ok {
		return nil, errors.New("the scenario has no owners")
	}
	s := &server{sim: sim, owner: owner, players: map[uint32]*player{}}
	sim.AddHooks(evertick.Hooks{AfterTick: s.broadcast})
	return s, nil
}

// guide:begin serve

// serve runs the game until ctx is done, recorded in dir if that is not empty. It returns
// when every goroutine that it started has ended and the log is on the disk.
func (s *server) serve(ctx context.Context, l net.Listener, dir string) (err error) {
	if dir != "" {
		rec, failed := replay.Record(dir, bumper.Name, s.sim, replay.Options{SnapshotTicks: 600})
		if failed != nil {
			return errors.Join(failed, l.Close()) // so that no player waits for a game that never starts
		}
		defer func() { err = errors.Join(err, rec.Close()) }()
	}
	s.running.Go(func() { s.accept(l) })
	defer s.running.Wait()
	defer s.close(l)
	if err := s.sim.Run(ctx); err != nil && !errors.Is(err, ctx.Err()) {
		return err
	}
	return nil
}

// broadcast sends all players what has changed. It runs on the goroutine of the Sim, so it
// only puts messages into queues: a slow connection must not delay a tick.
func (s *server) broadcast(t *evertick.Tick) error {
	if s.sim.Ticks()%ticksPerMessage != 0 {
		return nil
	}
	delta := s.sent.update(s.sim, s.owner)
	var whole []byte
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.players {
		message := delta
		if p.behind {
			if whole == nil {
				whole = s.sent.whole(s.sim.Ticks())
			}
			message = whole
		}
		select {
		case p.out <- message:
			p.behind = false
		default: // its queue is full: it gets the whole picture once there is room
			p.behind = true
		}
	}
	return nil
}

// listen turns what a player sends into inputs, at most one a tick: TCP makes a player that
// sends faster wait.
func (s *server) listen(number uint32, p *player) {
	push := func(seq uint64, kind uint32, data []byte) {
		if err := s.sim.Push(evertick.Input{Source: number, Seq: seq, Kind: kind, Data: data}); err != nil {
			log.Printf("player %d: %v", number, err)
		}
	}
	push(0, join, nil)
	seq := uint64(1)
	for data := make([]byte, 2); ; seq++ {
		if _, err := io.ReadFull(p.conn, data); err != nil {
			break // disconnected, or the server closes
		}
		push(seq, thrust, data)
		time.Sleep(time.Second / 60)
	}
	push(seq, leave, nil)
}

// guide:end

// accept lets players join until the listener is closed.
func (s *server) accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		if s.closed || len(s.players) == mostPlayers || s.last == 1<<16-1 {
			conn.Close()
		} else {
			s.last++
			p := &player{conn: conn, out: make(chan []byte, backlog), behind: true}
			p.out <- binary.LittleEndian.AppendUint32(nil, s.last) // the player's number
			s.players[s.last] = p
			number := s.last
			s.running.Go(func() { s.talk(p) })
			s.running.Go(func() {
				s.listen(number, p)
				s.mu.Lock()
				defer s.mu.Unlock()
				delete(s.players, number)
				close(p.out)
			})
		}
		s.mu.Unlock()
	}
}

// talk sends the messages that wait for a player.
func (s *server) talk(p *player) {
	defer p.conn.Close()
	for message := range p.out {
		p.conn.SetWriteDeadline(time.Now().Add(10 * time.Second))
		if _, err := p.conn.Write(message); err != nil {
			break
		}
	}
	p.conn.Close() // so that listen ends, which closes p.out
	for range p.out {
	}
}

// close accepts no more players and disconnects those that play.
func (s *server) close(l net.Listener) {
	l.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, p := range s.players {
		p.conn.Close()
	}
}
