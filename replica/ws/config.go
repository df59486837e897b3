//go:build !js

package ws

import (
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/replica"
)

// Config of a Handler. The zero value works.
type Config struct {
	// Origins are the origins of pages from which browsers may connect, such as "https://play.example.com".
	// Pages of the host itself may always connect, and so may clients that name no origin, as no browser
	// does. "*": all.
	Origins []string
	// Handshake is the longest time from the request until the session has begun: the client sends its
	// Hello and Config.Authorize of the server answers. 0: 5 s.
	Handshake time.Duration
	// Idle is how long a client may be silent. After half of it a ping is sent, which every client
	// answers. 0: 30 s.
	Idle time.Duration
	// Write is the longest time that a client may take to read the next 64 KiB that wait for it, or all if
	// less waits. It also bounds the end of its connection. 0: 10 s.
	Write time.Duration
	// MessageBytes is the largest message of a client, 0: 64 KiB. Make it not less than
	// replica.Limits.FrameBytes.
	MessageBytes int
	// BytesPerSecond is how many bytes a client may send a second, with the headers of the protocol and with
	// room for a burst of two seconds. It bounds what replica.Limits do not: a ping, a pong, and a fragment of a
	// message after the first each count as 4 KiB at least, or as a 128th of BytesPerSecond if that is less. What
	// arrives at once counts as 256 bytes at least, or as a 2,048th. 0: 512 KiB.
	BytesPerSecond int
	// QueueBytes limits the bytes that wait for one client: see replica.Queue. The buffer of the socket is set
	// to the same size. 0: 64 KiB.
	QueueBytes int
	// Connections limits the connections that are open at once, and PerAddress the connections of one address. 0: 4096
	// and 64.
	Connections, PerAddress int
	// PerMinute limits the connections that an address may begin in a minute. 0: 240.
	PerMinute int
	// Address returns the address of a client for these limits, and for the share of an address in
	// replica.Limits.Sessions. Behind a proxy, take it from the header that the proxy sets. nil: that of the
	// connection, of IPv6 its first 64 bits.
	Address func(*http.Request) string
	// Session gives the host the session of each connection, to call SetMask, LookAt, Follow, Stats and Close, with the request
	// that began the connection. It is called after replica.Server.Join, by the goroutine that then receives the messages of the client:
	// many calls may run at the same time. A session that is resumed comes again, as another *replica.Session with the
	// same ID. The tick that applies replica.Config.Joined may run before, and may already send a message: use the
	// replica.Grant for what must hold from the first message on. nil: nothing is called.
	Session func(s *replica.Session, r *http.Request)
}

const anyOrigin = "*"

// withDefaults returns the configuration with defaults for zeros, and all its faults.
func (c Config) withDefaults() (Config, error) {
	faults := fault.List{Package: "ws"}
	ints := []fault.Int{
		fault.NewInt("Config.MessageBytes", &c.MessageBytes, 64<<10, 1, 1<<30),
		fault.NewInt("Config.BytesPerSecond", &c.BytesPerSecond, 512<<10, 1, 1<<30),
		fault.NewInt("Config.QueueBytes", &c.QueueBytes, 64<<10, 1, 1<<30),
		fault.NewInt("Config.Connections", &c.Connections, 4096, 1, math.MaxInt32),
		fault.NewInt("Config.PerAddress", &c.PerAddress, 64, 1, math.MaxInt32),
		fault.NewInt("Config.PerMinute", &c.PerMinute, 240, 1, math.MaxInt32),
	}
	fault.SetDefaults(ints)
	faults.Ints(ints)
	for _, d := range []struct {
		name  string
		value *time.Duration
		usual time.Duration
	}{{"Config.Handshake", &c.Handshake, 5 * time.Second}, {"Config.Idle", &c.Idle, 30 * time.Second}, {"Config.Write", &c.Write, 10 * time.Second}} {
		if *d.value == 0 {
			*d.value = d.usual
		}
		if *d.value < 0 {
			faults.Add(fault.ErrRange, d.name, *d.value)
		}
	}
	c.Origins = slices.Clone(c.Origins)
	for i, origin := range c.Origins {
		if u, err := url.Parse(origin); origin != anyOrigin && (err != nil || u.Host == "" || u.Scheme+"://"+u.Host != origin) {
			faults.Join(fault.Element(fault.ErrRange, "ws: Config.Origins", i, origin))
		}
	}
	if c.Address == nil {
		c.Address = remoteAddress
	}
	return c, faults.Err()
}

// originAllowed reports whether a request comes from no page, from a page of this host, or from one
// that Config.Origins names.
func (c *Config) originAllowed(r *http.Request) bool {
	origins := r.Header.Values("Origin")
	if len(origins) != 1 {
		return len(origins) == 0
	}
	for _, allowed := range c.Origins {
		if allowed == anyOrigin || strings.EqualFold(allowed, origins[0]) {
			return true
		}
	}
	u, err := url.Parse(origins[0])
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}

// remoteAddress is the default of Config.Address. A provider gives a customer 64 bits of IPv6 or more.
func remoteAddress(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is6() {
		return netip.PrefixFrom(ip, 64).Masked().String()
	}
	return ip.String()
}
