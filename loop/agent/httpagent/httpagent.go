package httpagent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop/agent"
)

// Errors of Decide, wrapped.
var (
	// ErrStatus: the endpoint answered with another status than 200.
	ErrStatus = errors.New("status of the answer")
	// ErrAnswer: what it answered is not a chat completion, or names what there is not.
	ErrAnswer = errors.New("no answer that can be used")
)

// Config of a Provider.
type Config struct {
	// URL of the endpoint, http or https, as https://host/v1/chat/completions.
	URL string
	// Model is the name of the model.
	Model string
	// Key is sent as bearer token, as in NewSecret(os.Getenv("MODEL_KEY")). Zero: none is.
	Key Secret
	// System is what the model is told of its part before the perception.
	System string
	// MaxBytes of an answer, up to 64 MiB. 0: 1 MiB.
	MaxBytes int64
	// MaxTokens that the model is asked for. 0: not said.
	MaxTokens int
	// Temperature, 0 to 2. nil: not said.
	Temperature *float64
	// Client makes the requests; its Timeout and that of the agent both hold. nil: one of
	// its own. Its CheckRedirect is not used: redirects are errors.
	Client *http.Client
}

const (
	defaultMaxBytes = 1 << 20
	mostBytes       = 64 << 20
	quoted          = 200 // bytes of the endpoint in an error
	maxCalls        = 1 << 12
)

// Validate reports every fault of the configuration at once, each wrapping ErrRange.
func (c Config) Validate() error {
	var errs []error
	bad := func(field string, v any) {
		errs = append(errs, fault.Field(fault.ErrRange, "httpagent: Config."+field, v))
	}
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		bad("URL", "not one of http or https with a host") // which may hold a key of its own
	case u.User != nil:
		bad("URL", "one with a user")
	}
	if c.Model == "" {
		bad("Model", `""`)
	}
	if strings.ContainsFunc(c.Key.key(), func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		bad("Key", hidden)
	}
	if c.MaxBytes < 0 || c.MaxBytes > mostBytes {
		bad("MaxBytes", c.MaxBytes)
	}
	if c.MaxTokens < 0 {
		bad("MaxTokens", c.MaxTokens)
	}
	if t := c.Temperature; t != nil && !(*t >= 0 && *t <= 2) {
		bad("Temperature", *t)
	}
	return errors.Join(errs...)
}

// Provider asks a model. It is safe for concurrent use. Printed, it says which model.
type Provider struct {
	cfg    Config
	url    Secret // its query may hold a key, so cfg has none
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
	if c.MaxBytes == 0 {
		c.MaxBytes = defaultMaxBytes
	}
	p := &Provider{cfg: c, url: NewSecret(c.URL)}
	p.cfg.URL = ""
	if c.Client != nil {
		p.client = *c.Client
	}
	p.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return p, nil
}

// Decide implements agent.Provider. Errors wrap ErrStatus or ErrAnswer, or are those of the
// connection and of ctx.
func (p *Provider) Decide(ctx context.Context, per *agent.Perception) (agent.Decision, error) {
	body, err := json.Marshal(p.request(per))
	if err != nil {
		return agent.Decision{}, fmt.Errorf("httpagent: request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.url.key(), bytes.NewReader(body))
	if err != nil {
		return agent.Decision{}, errors.New("httpagent: request: the URL is not one")
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
	case err != nil:
		return agent.Decision{}, fmt.Errorf("httpagent: answer: %w", err)
	case resp.StatusCode != http.StatusOK:
		return agent.Decision{}, fmt.Errorf("httpagent: %w: %d: %s", ErrStatus, resp.StatusCode, p.quote(data))
	case int64(len(data)) > p.cfg.MaxBytes:
		return agent.Decision{}, fmt.Errorf("httpagent: answer of more than %d bytes: %w: %w", p.cfg.MaxBytes, ErrAnswer, fault.ErrCapacity)
	}
	return p.decision(data, per.Actions)
}

// decision is Parse, with the key kept out of what an error quotes.
func (p *Provider) decision(data []byte, defs []agent.ActionDef) (agent.Decision, error) {
	d, err := Parse(data, defs)
	if key := p.cfg.Key.key(); err != nil && key != "" && (bytes.Contains(data, []byte(key)) || strings.Contains(err.Error(), key)) {
		return agent.Decision{}, fmt.Errorf("httpagent: an answer that quotes the key: %w", ErrAnswer)
	}
	return d, err
}

// quote returns the beginning of what an endpoint said, as one line, without the key.
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
