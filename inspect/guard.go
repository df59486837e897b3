package inspect

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// guard decides whether a request may be answered, by its header alone.
type guard struct {
	token bool          // one is needed
	key   func() string // what a token is compared by, and cookies are made with; no printed Handler shows it
	hosts []string
}

func newGuard(c *Config) guard {
	key := keyOf(c.Token)
	g := guard{token: c.Token != "", key: func() string { return key }}
	for _, h := range c.Hosts {
		g.hosts = append(g.hosts, strings.ToLower(h))
	}
	return g
}

// cookieLife is how long a cookie admits a browser: a day, so that a page that is looked at stays admitted while somebody works with it.
const cookieLife = 24 * time.Hour

// keyOf makes a key of a token. Keys have equal lengths, so that comparing them says nothing about the length of a token.
func keyOf(token string) string {
	sum := sha256.Sum256([]byte("evertick inspect\x00" + token))
	return hex.EncodeToString(sum[:])
}

func (g *guard) matches(key string) bool {
	return subtle.ConstantTimeCompare([]byte(key), []byte(g.key())) == 1
}

// refuse returns the status and the reason to refuse a request, or 0. name is what it asks for, "" for the page.
func (g *guard) refuse(r *http.Request, name string) (status int, why string) {
	switch {
	case !g.token && !sameMachine(r):
		return http.StatusForbidden, "connections from other machines need a Config.Token"
	case !g.hostAllowed(r):
		return http.StatusForbidden, "the host is not allowed: Config.Hosts lists further ones"
	case !fromOwnPage(r, name):
		return http.StatusForbidden, "requests of other sites are refused"
	case len(r.URL.RawQuery) > maxQuery:
		return http.StatusRequestURITooLong, "the query is too long"
	case r.Method == http.MethodPost:
		return g.refusePost(r)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		return http.StatusMethodNotAllowed, "the method is none of GET, HEAD and POST"
	}
	return 0, ""
}

// refusePost requires what a form of another site cannot send: the type of the content, and a header that only the
// browser sets, or the token.
func (g *guard) refusePost(r *http.Request) (status int, why string) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		return http.StatusUnsupportedMediaType, "the Content-Type of a POST must be application/json"
	}
	if r.Header.Get("Origin") == "" && r.Header.Get("Sec-Fetch-Site") != "same-origin" && !g.bearer(r) {
		return http.StatusForbidden, "a POST needs an Origin, Sec-Fetch-Site: same-origin, or a bearer token"
	}
	return 0, ""
}

// sameMachine reports whether a connection does not cross a network.
func sameMachine(r *http.Request) bool {
	switch a := r.Context().Value(http.LocalAddrContextKey).(type) {
	case *net.TCPAddr:
		return a.IP.IsLoopback()
	case *net.UnixAddr:
		return true
	}
	a, err := netip.ParseAddrPort(r.RemoteAddr) // another server than net/http's
	return err == nil && a.Addr().Unmap().IsLoopback()
}

// hostAllowed compares the Host: after a site has changed what its name resolves to, its scripts can send requests to this
// machine, but they name that site.
func (g *guard) hostAllowed(r *http.Request) bool {
	host := strings.ToLower(hostname(r.Host))
	if host == "localhost" || slices.Contains(g.hosts, host) {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	ip = ip.Unmap()
	if ip.IsLoopback() {
		return true
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ok && local.AddrPort().Addr().Unmap() == ip
}

// hostname returns a host without its port.
func hostname(host string) string { return (&url.URL{Host: host}).Hostname() }

// fromOwnPage reports whether a request comes from the page, or from no page at all. Any site may link to the
// page, but not ask for anything else.
func fromOwnPage(r *http.Request, name string) bool {
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) {
			return false
		}
	}
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		return true
	}
	return name == "" && r.Method == http.MethodGet &&
		r.Header.Get("Sec-Fetch-Mode") == "navigate" && r.Header.Get("Sec-Fetch-Dest") == "document"
}

// authorized reports whether a request has the token, if one is needed.
func (g *guard) authorized(r *http.Request) bool {
	if !g.token || g.bearer(r) {
		return true
	}
	// Any of them: other servers of the machine can set cookies of this name for longer paths, which come first.
	return slices.ContainsFunc(r.CookiesNamed(cookieName(r)), func(c *http.Cookie) bool { return g.admits(r, c.Value) })
}

// admits reports whether a cookie was made by this server, for this host and port, and is still valid.
func (g *guard) admits(r *http.Request, cookie string) bool {
	text, _, _ := strings.Cut(cookie, ".")
	until, err := strconv.ParseInt(text, 10, 64)
	return err == nil && time.Now().Before(time.Unix(until, 0)) &&
		subtle.ConstantTimeCompare([]byte(cookie), []byte(g.cookie(r, until))) == 1
}

// cookie returns a cookie that is valid until a time, in seconds since 1970. It has a code of that time, of the host and port that
// the browser names, and of the port that has accepted the connection, made with the key: browsers send a cookie to all ports of a host,
// and what other servers there see of it does not reveal the token, and is valid for no other port, nor longer.
func (g *guard) cookie(r *http.Request, until int64) string {
	port := 0
	if a, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok {
		port = a.Port
	}
	code := hmac.New(sha256.New, []byte(g.key()))
	fmt.Fprintf(code, "%d %d %s", until, port, strings.ToLower(r.Host))
	return fmt.Sprintf("%d.%x", until, code.Sum(nil))
}

// bearer reports whether the header has the token.
func (g *guard) bearer(r *http.Request) bool {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return g.token && strings.EqualFold(scheme, "Bearer") && g.matches(keyOf(token))
}

// cookieName returns the name of the cookie. It has the port, so that two servers of a machine do not replace the cookie of
// each other.
func cookieName(r *http.Request) string {
	return "evertick-inspect-" + (&url.URL{Host: r.Host}).Port()
}

// admit sets the cookie if the query of the page has the token, and sends the browser to the address without it. It
// reports whether it has answered.
func (g *guard) admit(w http.ResponseWriter, r *http.Request) bool {
	query := r.URL.Query()
	if !g.token || !g.matches(keyOf(query.Get("token"))) {
		return false
	}
	query.Del("token")
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r), Value: g.cookie(r, time.Now().Add(cookieLife).Unix()), Path: pathOf(r), MaxAge: int(cookieLife / time.Second),
		HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteStrictMode,
	})
	if r.Header.Get("Sec-Fetch-Site") == "cross-site" { // after a link on another site a redirect would lack the cookie
		w.Header().Set("Refresh", "0; url="+address("", query.Encode()))
		return true
	}
	redirect(w, http.StatusSeeOther, "", query.Encode())
	return true
}

// pathOf returns the path as the client sent it, before any prefix was removed.
func pathOf(r *http.Request) string {
	sent, _, _ := strings.Cut(r.RequestURI, "?")
	if !strings.HasPrefix(sent, "/") { // a full address, as proxies send it
		return r.URL.Path
	}
	return sent
}
