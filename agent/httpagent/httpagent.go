package httpagent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/internal/fault"
)

// Errors of Decide, wrapped.
var (
	// ErrStatus: the endpoint answered with another status than 200.
	ErrStatus = errors.New("unexpected HTTP status")
	// ErrAnswer: the answer is not a chat completion, or its tool calls are not valid.
	ErrAnswer = errors.New("invalid answer")
)

// Config of a Provider.
type Config struct {
	// URL of the endpoint, http or https, as https://host/v1/chat/completions.
	URL string
	// Model is the name of the model.
	Model string
	// Key is sent as bearer token, as in NewSecret(os.Getenv("MODEL_KEY")). Zero: no token is sent.
	Key Secret
	// System is the system message, which explains its task to the model. Empty: a general one.
	System string
	// MaxBytes of an answer, up to 64 MiB. 0: 1 MiB.
	MaxBytes int64
	// MaxTokens limits the answer of the model. 0: not sent.
	MaxTokens int
	// Temperature, 0 to 2. nil: not sent.
	Temperature *float64
	// Backoff is the time for which the endpoint is not asked again after status 429 or 503 without a Retry-After. 0: 1 s.
	Backoff time.Duration
	// Client makes the requests; its Timeout and the agent's both hold. nil: a new one.
	// Its CheckRedirect is not used: redirects are errors. JSON leaves it out: it holds functions.
	Client *http.Client `json:"-"`
}

const (
	defaultMaxBytes = 1 << 20
	defaultBackoff  = time.Second
	maxRetryAfter   = 365 * 24 * time.Hour // agent.ProviderConfig.MaxDelay bounds it further
	maxBytes        = 64 << 20
	quoted          = 200 // bytes of an answer in an error
	maxCalls        = 1 << 12
)

// Validate reports every fault of the configuration at once, each wrapping ErrRange.
func (c Config) Validate() error {
	f := fault.List{Package: "httpagent"}
	bad := func(field string, v any) { f.Add(fault.ErrRange, "Config."+field, v) }
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		bad("URL", "not http or https with a host") // the URL itself is not quoted: its query may hold a key
	case u.User != nil:
		bad("URL", "has a user name")
	}
	if c.Model == "" {
		bad("Model", `""`)
	}
	if strings.ContainsFunc(c.Key.key(), func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		bad("Key", hidden)
	}
	if c.MaxBytes < 0 || c.MaxBytes > maxBytes {
		bad("MaxBytes", c.MaxBytes)
	}
	if c.MaxTokens < 0 {
		bad("MaxTokens", c.MaxTokens)
	}
	if c.Backoff < 0 {
		bad("Backoff", c.Backoff)
	}
	if t := c.Temperature; t != nil && !(*t >= 0 && *t <= 2) {
		bad("Temperature", *t)
	}
	return f.Err()
}

// Provider asks a model. It is safe for concurrent use. It prints as the name of the model.
type Provider struct {
	cfg    Config
	url    Secret // not in cfg, as its query may hold a key
	client http.Client
}

// String implements fmt.Stringer.
func (p *Provider) String() string { return fmt.Sprintf("httpagent.Provider(%q)", p.cfg.Model) }

// Format implements fmt.Formatter: all verbs print as String.
func (p *Provider) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, p.String()) }

// LogValue implements slog.LogValuer.
func (p *Provider) LogValue() slog.Value { return slog.StringValue(p.String()) }

// New returns a provider. The error is that of Config.Validate.
func New(c Config) (*Provider, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c.MaxBytes, c.Backoff = cmp.Or(c.MaxBytes, defaultMaxBytes), cmp.Or(c.Backoff, defaultBackoff)
	p := &Provider{cfg: c, url: NewSecret(c.URL)}
	p.cfg.URL = ""
	if c.Client != nil {
		p.client = *c.Client
	}
	p.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return p, nil
}

// Decide implements agent.Provider. Errors wrap ErrStatus or ErrAnswer, or are those of the
// connection and of ctx. One that wraps ErrStatus is an *agent.RetryError if the endpoint says when to ask again, or
// that it is asked too often: see the package comment.
func (p *Provider) Decide(ctx context.Context, per *agent.Perception) (agent.Decision, error) {
	body, err := json.Marshal(p.request(per))
	if err != nil {
		return agent.Decision{}, fmt.Errorf("httpagent: request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url.key(), bytes.NewReader(body))
	if err != nil {
		return agent.Decision{}, errors.New("httpagent: request: invalid URL")
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if key := p.cfg.Key.key(); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	resp, err := p.client.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // without the URL, whose query may hold a key
		}
		return agent.Decision{}, fmt.Errorf("httpagent: %w", err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, p.cfg.MaxBytes+1))
	switch {
	case resp.StatusCode != http.StatusOK: // whatever could be read of its body
		return agent.Decision{}, p.statusError(resp, data, time.Now())
	case err != nil:
		return agent.Decision{}, fmt.Errorf("httpagent: answer: %w", err)
	case int64(len(data)) > p.cfg.MaxBytes:
		return agent.Decision{}, fmt.Errorf("httpagent: answer of more than %d bytes: %w: %w", p.cfg.MaxBytes, ErrAnswer, fault.ErrCapacity)
	}
	return p.decision(data, per.Actions)
}

// statusError is the error of an answer with another status than 200.
func (p *Provider) statusError(resp *http.Response, data []byte, now time.Time) error {
	err := fmt.Errorf("httpagent: %w: %d: %s", ErrStatus, resp.StatusCode, p.quote(data))
	wait, ok := retryAfter(resp.Header, now)
	switch {
	case ok:
	case resp.StatusCode == http.StatusTooManyRequests || resp.StatusCode == http.StatusServiceUnavailable:
		wait = p.cfg.Backoff
	default:
		return err
	}
	return &agent.RetryError{NotBefore: now.Add(wait), Err: err}
}

// retryAfter returns the time that the header Retry-After asks for, up to maxRetryAfter, and whether there is a valid
// one: a whole number of seconds, or a date (RFC 9110, section 10.2.3). A date counts from the date of the answer, if it
// has one, so that the clocks of the two machines need not agree. A date that has passed asks for no time.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	text := strings.Trim(h.Get("Retry-After"), " \t")
	if text != "" && strings.Trim(text, "0123456789") == "" {
		seconds, err := strconv.ParseUint(text, 10, 64)
		if err != nil || seconds > uint64(maxRetryAfter/time.Second) { // beyond 64 bits
			return maxRetryAfter, true
		}
		return time.Duration(seconds) * time.Second, true
	}
	date, err := http.ParseTime(text)
	if err != nil {
		return 0, false
	}
	if from, err := http.ParseTime(h.Get("Date")); err == nil {
		now = from
	}
	return min(max(date.Sub(now), 0), maxRetryAfter), true
}

// decision is Parse, with errors that never quote the key.
func (p *Provider) decision(data []byte, defs []agent.ActionDef) (agent.Decision, error) {
	d, err := Parse(data, defs)
	if key := p.cfg.Key.key(); err != nil && key != "" && (bytes.Contains(data, []byte(key)) || strings.Contains(err.Error(), key)) {
		return agent.Decision{}, fmt.Errorf("httpagent: the answer quotes the key: %w", ErrAnswer)
	}
	return d, err
}

// quote returns the beginning of an answer, as one line, without the key.
func (p *Provider) quote(data []byte) string {
	s := strings.ToValidUTF8(string(data), "?")
	if key := p.cfg.Key.key(); key != "" {
		s = strings.ReplaceAll(s, key, hidden)
	}
	return short(s)
}

func short(s string) string {
	if len(s) > quoted {
		n := quoted
		for n > 0 && !utf8.RuneStart(s[n]) {
			n--
		}
		s = s[:n] + "…"
	}
	return fmt.Sprintf("%q", s)
}
