package replica

import "math"

// addressOf returns where the client of a connection is.
func addressOf(conn Conn) string {
	if c, ok := conn.(interface{ Address() string }); ok {
		return c.Address()
	}
	return ""
}

// place moves a session to an address. mu is locked.
func (s *Server) place(ses *session, address string) {
	s.leavePlace(ses.address)
	ses.address = address
	s.places[address]++
}

func (s *Server) leavePlace(address string) {
	if s.places[address]--; s.places[address] == 0 {
		delete(s.places, address)
	}
}

// makeRoom makes room for a session of an address, if there is none: see Limits.Sessions. It returns the connection of the
// session that it ends, if that has one. Of the sessions that can end, it takes the one of the lowest number of the address that
// has most. mu is locked.
func (s *Server) makeRoom(address string, now int64) (over *Session) {
	if len(s.sessions) < s.config.Limits.Sessions {
		return nil
	}
	if s.sweepLocked(now); len(s.sessions) < s.config.Limits.Sessions {
		return nil
	}
	var found *session
	most, waits := s.places[address]+1, false // the other address must have as many as this one afterwards
	for _, ses := range s.sessions {
		n, away := s.places[ses.address], ses.until != math.MaxInt64
		if n > most || n == most && found != nil && away && !waits {
			if away || ses.silent() {
				found, most, waits = ses, n, away
			}
		}
	}
	if found == nil {
		return nil
	}
	found.mu.Lock()
	over = found.current
	found.mu.Unlock()
	s.endSession(found, TooMany)
	return over
}

// silent reports whether the client has sent nothing since the first Hello of the session.
func (ses *session) silent() bool {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	return ses.confirmed == 0
}
