package embedded

import (
	"context"
	"errors"
	"net/url"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/evertick/evertick/internal/fault"
)

// What a server has confirmed is there after a restart at the same address.
func TestServer(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := Config{Dir: t.TempDir(), SyncAlways: true}
	for round := range 2 {
		s, err := Start(c)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		nc, err := nats.Connect(s.URL())
		if err != nil {
			t.Fatal(err)
		}
		defer nc.Close()
		js, err := jetstream.New(nc)
		if err != nil {
			t.Fatal(err)
		}
		if round == 0 {
			if _, err := js.CreateStream(ctx, jetstream.StreamConfig{Name: "s", Subjects: []string{"s"}}); err != nil {
				t.Fatal(err)
			}
		}
		ack, err := js.Publish(ctx, "s", []byte("text"))
		if err != nil || ack.Sequence != uint64(round+1) {
			t.Fatal(ack, err)
		}
		u, err := url.Parse(s.URL())
		if err != nil {
			t.Fatal(err)
		}
		c.Address = u.Host
		s.Close()
		s.Close()
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []Config{{}, {Dir: t.TempDir(), Address: "here"}, {Dir: t.TempDir(), Address: "127.0.0.1:70000"}, {Dir: t.TempDir(), Address: "127.0.0.1:-1"}} {
		if _, err := Start(c); !errors.Is(err, fault.ErrRange) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
