//go:build !js

package ws

import (
	"net/http"
	"sync"
	"time"
)

// admission counts the connections, and admits or refuses new ones.
type admission struct {
	config *Config

	mu        sync.Mutex
	total     int
	addresses map[string]int // connections that are open
	recent    map[string]int // connections that began in this minute
	minute    time.Time      // when it began
}

func newAdmission(c *Config) *admission {
	return &admission{config: c, addresses: map[string]int{}, recent: map[string]int{}}
}

// enter counts a connection, or returns the HTTP status that refuses it. A refused one counts as begun.
func (a *admission) enter(address string, now time.Time) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	if now.Sub(a.minute) >= time.Minute {
		a.minute = now
		clear(a.recent)
	}
	if a.recent[address] >= a.config.PerMinute {
		return http.StatusTooManyRequests
	}
	a.recent[address]++
	switch {
	case a.addresses[address] >= a.config.PerAddress:
		return http.StatusTooManyRequests
	case a.total >= a.config.Connections:
		return http.StatusServiceUnavailable
	}
	a.total++
	a.addresses[address]++
	return 0
}

// leave ends what enter began.
func (a *admission) leave(address string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.total--
	if a.addresses[address]--; a.addresses[address] == 0 {
		delete(a.addresses, address)
	}
}
