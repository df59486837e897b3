package train_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/train"
)

// soloist is a Game without masks. Its outcome and observation differ from those of the teams below.
type soloist struct{ sim *evertick.Sim }

func (g soloist) Sim() *evertick.Sim       { return g.sim }
func (g soloist) Outcome() (float32, bool) { return -1, false }
func (g soloist) Observe(row train.Row)    { row.Float32[0] = -1 }

// band is a Team with masks: agent k gets 10 + k, sees 20 + k, and may make choice k % 2 only.
type band struct{ soloist }

func (band) OutcomeOf(agent int) (float32, bool) { return float32(10 + agent), false }
func (band) ObserveOf(agent int, row train.Row)  { row.Float32[0] = float32(20 + agent) }
func (band) MaskOf(agent int, of []bool)         { of[0], of[1] = agent%2 == 0, agent%2 == 1 }

// both is a band that may play alone.
type both struct{ band }

func (both) Mask(of []bool) { of[0], of[1] = true, false }

// masked is a Game with masks.
type masked struct{ soloist }

func (masked) Mask(of []bool) { of[0], of[1] = false, true }

// Methods that one may take for masks.
type (
	wrongMask   struct{ soloist }
	wrongMasks  struct{ soloist }
	wrongAction struct{ soloist }
	wrongTeam   struct{ band0 }
	band0       struct{ soloist } // a Team without masks
)

func (wrongMask) Mask([]int8)                     {}
func (wrongMasks) Masks([]bool)                   {}
func (wrongAction) ActionMask() []bool            { return nil }
func (wrongTeam) Mask([]bool)                     {}
func (band0) OutcomeOf(agent int) (float32, bool) { return float32(10 + agent), false }
func (band0) ObserveOf(agent int, row train.Row)  { row.Float32[0] = float32(20 + agent) }

func games(names []string, action train.Space, wrap func(soloist) train.Game) train.Definition {
	return train.SimDefinition{Name: "games", Obs: train.Box(1, -100, 100), Action: action, Agents: names,
		New: func(c evertick.Config) (train.Game, error) {
			sim, err := evertick.New(c)
			if err != nil {
				return nil, err
			}
			sim.Add(evertick.BeforePhysics, "orders", func(t *evertick.Tick) error {
				_, err := train.TeamOrders(t, action, max(1, len(names)))
				return err
			})
			return wrap(soloist{sim}), nil
		}}.Definition()
}

// Agents with names are those of a Team, for any number of them; a player without a name is that of a Game.
func TestTeamOfAnySize(t *testing.T) {
	for n := range 5 {
		names := make([]string, n)
		for k := range names {
			names[k] = fmt.Sprint("agent ", k)
		}
		b, buf := begun(t, games(names, train.Choice(2), func(g soloist) train.Game { return both{band{g}} }), train.Config{Worlds: 3})
		for row := range buf.Choices {
			buf.Choices[row] = int32(row % 2)
		}
		if err := b.Step(buf); err != nil {
			t.Fatal(err)
		}
		for row := range buf.Reward {
			agent := row % b.Agents()
			got := fmt.Sprint(buf.Reward[row], buf.Obs[row], buf.Mask[2*row:][:2])
			want := fmt.Sprint(10+agent, 20+agent, []bool{agent%2 == 0, agent%2 == 1})
			if n == 0 {
				want = fmt.Sprint(-1, -1, []bool{true, false})
			}
			if got != want {
				t.Errorf("%d agents, row %d: %s, want %s", n, row, got, want)
			}
		}
		_, err := train.New(games(names, train.Choice(2), func(g soloist) train.Game { return g }), train.Config{})
		if (err == nil) != (n == 0) || n > 0 && !errors.Is(err, fault.ErrUnsupported) {
			t.Errorf("%d agents of a game that is no Team: %v", n, err)
		}
	}
}

// A method that one would take for masks and that is not called is refused; actions without choices have no masks.
func TestMaskMethods(t *testing.T) {
	one, two := []string(nil), []string{"a", "b"}
	for _, c := range []struct {
		names []string
		wrap  func(soloist) train.Game
		want  string // in the error; empty: there is none
	}{
		{one, func(g soloist) train.Game { return g }, ""},
		{one, func(g soloist) train.Game { return masked{g} }, ""},
		{two, func(g soloist) train.Game { return band{g} }, ""},
		{two, func(g soloist) train.Game { return band0{g} }, ""},
		{one, func(g soloist) train.Game { return band{g} }, "band = MaskOf: "},
		{two, func(g soloist) train.Game { return both{band{g}} }, ""},
		{one, func(g soloist) train.Game { return wrongMask{g} }, "wrongMask = Mask: "},
		{one, func(g soloist) train.Game { return wrongMasks{g} }, "wrongMasks = Masks: "},
		{one, func(g soloist) train.Game { return wrongAction{g} }, "wrongAction = ActionMask: "},
		{two, func(g soloist) train.Game { return wrongTeam{band0{g}} }, "wrongTeam = Mask: "},
	} {
		_, err := train.New(games(c.names, train.Choice(2), c.wrap), train.Config{})
		if c.want == "" && err != nil {
			t.Error(err)
		}
		if c.want != "" {
			wantError(t, err, fault.ErrUnsupported, c.want, "of []bool)")
		}
		if _, err := train.New(games(c.names, train.Box(1, 0, 1), c.wrap), train.Config{}); err != nil {
			t.Error(err)
		}
	}
	def := counter(nil)
	def.New = func(n int, _ bool) (train.Worlds, error) {
		w, err := counter(nil).New(n, false)
		return misspelt{w.(*counters)}, err
	}
	_, err := train.New(def, train.Config{})
	wantError(t, err, fault.ErrUnsupported, "misspelt = Masks: ", "Mask(i int, of []bool)")
}

type misspelt struct{ *counters }

func (misspelt) Masks(int, []bool) {}

// Without a mask method all choices make sense, in rows with gaps as well.
func TestMasked(t *testing.T) {
	for _, c := range []struct {
		wrap func(soloist) train.Game
		want bool
	}{{func(g soloist) train.Game { return g }, false}, {func(g soloist) train.Game { return masked{g} }, true}} {
		b, buf := begun(t, games(nil, train.Choice(2), c.wrap), train.Config{Worlds: 5})
		if b.Masked() != c.want || slices.Contains(buf.Mask, false) != c.want {
			t.Errorf("Masked() = %v, masks %v", b.Masked(), buf.Mask)
		}
	}
}
