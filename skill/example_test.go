package skill_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/skill"
)

// A builder makes an entity from outside, and a reader is refused.
func Example() {
	sim, err := evertick.New(evertick.Config{Capacity: 100})
	if err != nil {
		log.Fatal(err)
	}
	skills, err := skill.New(sim, skill.Config{})
	if err != nil {
		log.Fatal(err)
	}
	if err := skill.Standard(skills); err != nil {
		log.Fatal(err)
	}
	ann, err := skills.Caller(skill.Actor{Name: "ann", Profile: skill.Builder})
	if err != nil {
		log.Fatal(err)
	}
	bob, err := skills.Caller(skill.Actor{Name: "bob", Profile: skill.Reader})
	if err != nil {
		log.Fatal(err)
	}

	made, err := ann.Submit("scene.createEntity", []byte(`{"position": {"x": 1, "y": 2, "z": 0}, "tags": ["lamp"]}`), 0)
	if err != nil {
		log.Fatal(err)
	}
	gone, err := bob.Submit("scene.destroyEntity", []byte(`{"id": "ent_1"}`), 0)
	if err != nil {
		log.Fatal(err)
	}
	if err := sim.Step(); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n", made.Result().Output)
	var refused *skill.Error
	if errors.As(gone.Result().Err, &refused) {
		fmt.Println(refused.Code)
	}
	// Output:
	// {"id":"ent_1"}
	// forbidden
}

// Lift is a skill of a host.
type Lift struct {
	ID     string  `json:"id"`
	Metres float32 `json:"metres"`
}

// Target lets players lift their own entity.
func (l Lift) Target() string { return l.ID }

// A host adds a skill of its own.
func ExampleRegister() {
	sim, err := evertick.New(evertick.Config{Capacity: 100})
	if err != nil {
		log.Fatal(err)
	}
	skills, err := skill.New(sim, skill.Config{})
	if err != nil {
		log.Fatal(err)
	}
	err = skill.Register(skills, skill.Def{Name: "game.lift", Permission: "game.lift", Description: "Lifts an entity."},
		func(c *skill.Call, in Lift) (Lift, error) {
			return in, errors.New("too heavy")
		})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range skills.Skills() {
		fmt.Println(s.FullName(), s.Input.Required)
	}
	// Output: game.lift@1 [id metres]
}
