package ws

import (
	"net/http"
	"sync"
	"time"
)

// door counts the connections, and decides about new ones.
type door struct {
	config *Config

	mu        sync.Mutex
	total     int
	addresses map[string]int // connections that are open
	recent    map[string]int // connections that began in this minute
	minute    time.Time      // when it began
}

func newDoor(c *Config) *door {
	return &door{config: c, addresses: map[string]int{}, recent: map[string]int{}}
}

// enter counts a connection, or returns the HTTP status that refuses it. A refused one counts as begun.
func (d *door) enter(address string, now time.Time) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now.Sub(d.minute) >= time.Minute {
		d.minute = now
		clear(d.recent)
	}
	if d.recent[address] >= d.config.PerMinute {
		return http.StatusTooManyRequests
	}
	d.recent[address]++
	switch {
	case d.addresses[address] >= d.config.PerAddress:
		return http.StatusTooManyRequests
	case d.total >= d.config.Connections:
		return http.StatusServiceUnavailable
	}
	d.total++
	d.addresses[address]++
	return 0
}

// leave ends what enter began.
func (d *door) leave(address string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.total--
	if d.addresses[address]--; d.addresses[address] == 0 {
		delete(d.addresses, address)
	}
}
