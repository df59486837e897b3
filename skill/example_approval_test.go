package skill_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/skill"
)

// The calls of an intern wait until a foreman approves them, and a hook refuses one of them.
func Example_approval() {
	sim, err := evertick.New(evertick.Config{Capacity: 100})
	if err != nil {
		log.Fatal(err)
	}
	skills, err := skill.New(sim, skill.Config{})
	if err != nil {
		log.Fatal(err)
	}
	// guide:begin approval
	err = errors.Join(
		skill.Standard(skills),
		skill.Approvals(skills), // skills.pending, skills.approve and skills.reject
		skills.AddProfile(skill.Profile{Name: "intern", Permissions: []string{"scene.*"}, Approval: []string{"scene.write"}}),
		skills.AddProfile(skill.Profile{Name: "foreman", Permissions: []string{"scene.*", skill.ApprovePermission}}),
	)
	skills.AddHook(skill.Hook{
		Before: func(c *skill.Call) error {
			if in, ok := c.Input.(skill.CreateInput); ok && len(in.Tags) == 0 {
				return errors.New("an entity needs a tag")
			}
			return nil
		},
	})
	// guide:end
	if err != nil {
		log.Fatal(err)
	}
	intern, err := skills.Caller(skill.Actor{Name: "tim", Profile: "intern"})
	if err != nil {
		log.Fatal(err)
	}
	foreman, err := skills.Caller(skill.Actor{Name: "ann", Profile: "foreman"})
	if err != nil {
		log.Fatal(err)
	}
	good, err := intern.Submit("scene.createEntity", []byte(`{"position": [1, 2, 0], "tags": ["lamp"]}`), 0)
	if err != nil {
		log.Fatal(err)
	}
	bad, err := intern.Submit("scene.createEntity", []byte(`{"position": [1, 2, 0]}`), 0)
	if err != nil {
		log.Fatal(err)
	}
	if err := sim.StepN(3); err != nil {
		log.Fatal(err)
	}
	fmt.Println("entities while the calls wait:", sim.World.Len())
	for _, p := range []*skill.Pending{good, bad} {
		if _, err := foreman.Submit("skills.approve", fmt.Appendf(nil, `{"call": %d}`, p.Held()), 0); err != nil {
			log.Fatal(err)
		}
	}
	if err := sim.Step(); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s\n%v\n", good.Result().Output, bad.Result().Err)
	// Output:
	// entities while the calls wait: 0
	// {"id":"ent_1"}
	// skill: scene.createEntity@1: an entity needs a tag: refused
}
