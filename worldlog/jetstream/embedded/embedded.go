// Package embedded runs a NATS server with JetStream in the process, for a machine that has none: a small host, or a test. It links the
// server; package jetstream does not.
//
// A server in the process of the master ends with it. For a standby to take over, run the server on a machine of its own, or
// in the process of the standby.
package embedded

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/evertick/evertick/internal/fault"
)

// Config of a Server.
type Config struct {
	// Dir is where streams are stored. It is needed. Only one server may have it.
	Dir string
	// Address is host:port. "": a free port of 127.0.0.1. The server asks for no password. Programs on other machines
	// need a server with users, by its own configuration file.
	Address string
	// SyncAlways syncs each message to the disk before it is confirmed, so that a power cut takes none that was. Otherwise
	// the server syncs every two minutes, and a Shipper sends from its log what was lost.
	SyncAlways bool
}

// Server is a NATS server in the process.
type Server struct{ s *server.Server }

// startWait is how long a server may take to accept connections: it reads its store first.
const startWait = time.Minute

// Start runs a server until Close. Errors wrap ErrRange of package fault for a fault of the configuration, or are those of the
// server.
func Start(c Config) (*Server, error) {
	host, port := "127.0.0.1", server.RANDOM_PORT
	if c.Dir == "" {
		return nil, fault.Field(fault.ErrRange, "embedded: Config.Dir", c.Dir)
	}
	if c.Address != "" {
		h, p, err := net.SplitHostPort(c.Address)
		n, e := strconv.ParseUint(p, 10, 16)
		if err != nil || e != nil {
			return nil, fault.Field(fault.ErrRange, "embedded: Config.Address", c.Address)
		}
		if host = h; n > 0 {
			port = int(n)
		}
	}
	s, err := server.NewServer(&server.Options{Host: host, Port: port, JetStream: true, StoreDir: c.Dir, SyncAlways: c.SyncAlways, NoLog: true, NoSigs: true})
	if err != nil {
		return nil, fmt.Errorf("embedded: %w", err)
	}
	s.Start()
	if !s.ReadyForConnections(startWait) || !s.JetStreamEnabled() {
		s.Shutdown()
		s.WaitForShutdown()
		return nil, fmt.Errorf("embedded: %w: address %q, Dir %s", errStart, c.Address, c.Dir)
	}
	return &Server{s}, nil
}

var errStart = errors.New("the server does not start, as when the address is in use or the directory is not writable")

// URL returns where clients connect.
func (s *Server) URL() string { return s.s.ClientURL() }

// Close ends the server, and waits until its store is written. It may be called again.
func (s *Server) Close() {
	s.s.Shutdown()
	s.s.WaitForShutdown()
}
