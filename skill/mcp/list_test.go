package mcp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/skill"
	"github.com/evertick/evertick/skill/mcp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// inputs has a valid input for each skill. Those that name an entity name %s.
var inputs = map[string]string{
	"scene.createEntity": `{"position":[0,1,0]}`, "scene.destroyEntity": `{"id":%q}`, "scene.queryEntities": `{}`,
	"scene.setResource": `{"id":%q,"kind":"mesh","name":"a"}`, "scene.removeResource": `{"id":%q,"kind":"mesh"}`, "scene.getResources": `{"id":%q}`,
	"ecs.updateComponent": `{"id":%q,"position":[0,0,0]}`, "ecs.addComponent": `{"id":%q,"component":"a"}`, "ecs.removeComponent": `{"id":%q,"component":"a"}`,
	"physics.applyImpulse": `{"id":%q,"impulse":[0,0,0]}`, "physics.raycast": `{"from":[0,0,0],"to":[1,0,0]}`,
	"world.snapshot": `{}`, "world.stats": `{}`, "skills.pending": `{}`, "skills.approve": `{"call":1}`, "skills.reject": `{"call":1}`,
	"host.open": `{"id":%q}`, "host.door": `{"id":%q}`, "host.look": `{}`, "host.new": `{}`,
}

type (
	doorInput struct {
		ID string `json:"id"`
	}
	emptyInput struct{}
	doorOutput struct{}
)

func (d doorInput) Target() string { return d.ID }

// untargeted has an id, but is no Targeter.
type untargeted struct {
	ID string `json:"id"`
}

func hostSkills(r *skill.Registry) error {
	return errors.Join(
		skill.Register(r, skill.Def{Name: "host.open", Description: "-", Permission: "host.write"}, func(*skill.Call, doorInput) (doorOutput, error) { return doorOutput{}, nil }),
		skill.Register(r, skill.Def{Name: "host.door", Description: "-", Permission: "host.write"}, func(*skill.Call, untargeted) (doorOutput, error) { return doorOutput{}, nil }),
		skill.Register(r, skill.Def{Name: "host.look", Description: "-", Permission: "host.read", ReadOnly: true}, func(*skill.Call, emptyInput) (doorOutput, error) { return doorOutput{}, nil }),
		skill.Register(r, skill.Def{Name: "host.new", Description: "-", Permission: "host.old", Approval: true}, func(*skill.Call, emptyInput) (doorOutput, error) { return doorOutput{}, nil }),
		skill.Register(r, skill.Def{Name: "host.new", Version: 2, Description: "-", Permission: "host.new"}, func(*skill.Call, emptyInput) (doorOutput, error) { return doorOutput{}, nil }),
	)
}

// profiles are the standard ones, some for single rules, and drawn ones.
func profiles(r *rand.Rand, permissions []string) []skill.Profile {
	list := []skill.Profile{
		{Name: skill.Reader}, {Name: skill.Player}, {Name: skill.Builder}, {Name: skill.Admin}, // as they are
		{Name: "none"}, {Name: "owner", Permissions: []string{"*"}, OwnEntity: true}, {Name: "old", Permissions: []string{"host.old"}},
		{Name: "careful", Permissions: []string{"*"}, Approval: []string{"*"}},
	}
	for i := range 6 {
		p := skill.Profile{Name: fmt.Sprint("drawn ", i), OwnEntity: r.IntN(2) == 0}
		for _, name := range permissions {
			switch r.IntN(4) {
			case 0:
				p.Permissions = append(p.Permissions, name)
			case 1:
				p.Approval = append(p.Approval, name)
			case 2:
				if r.IntN(4) == 0 {
					p.Permissions = append(p.Permissions, name[:strings.IndexByte(name, '.')+1]+"*")
				}
			}
		}
		list = append(list, p)
	}
	return list
}

// The list of tools has those of which a call with some input is permitted, and no others, for every profile, with and
// without an entity. Calls of the others are refused and recorded.
func TestListIsWhatMayBeCalled(t *testing.T) {
	rand := rand.New(rand.NewPCG(paritytest.Seed(), 5))
	w, err := mcp.Build(3)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(skill.Approvals(w.Skills), hostSkills(w.Skills)); err != nil {
		t.Fatal(err)
	}
	var permissions, names []string
	for _, k := range w.Skills.Skills() {
		permissions, names = append(permissions, k.Permission), append(names, k.Name)
	}
	slices.Sort(permissions)
	permissions, names = slices.Compact(permissions), slices.Compact(names)
	all := profiles(rand, permissions)
	for _, p := range all[4:] {
		if err := w.Skills.AddProfile(p); err != nil {
			t.Fatal(err)
		}
	}
	r := run(t, w)
	met := map[bool]int{}
	for i, p := range all {
		tool := func(name string) string { return name }
		if i%2 == 1 {
			tool = skill.PlainName
		}
		for _, entity := range []ecs.ID{0, 1} {
			cs := r.connect(t, r.server(t, mcp.Config{Profile: p.Name, Actor: fmt.Sprint(i, "-", entity), Entity: entity, PlainNames: i%2 == 1, Timeout: 1e8}))
			res, err := cs.ListTools(r.ctx, &sdk.ListToolsParams{})
			if err != nil {
				t.Fatal(err)
			}
			listed := map[string]bool{}
			for _, tool := range res.Tools {
				listed[tool.Name] = true
			}
			if !listed["trace"] {
				t.Errorf("%s: no tool trace in %v", p.Name, listed)
			}
			delete(listed, "trace")
			answers := make([]string, len(names))
			var calls sync.WaitGroup
			for i, name := range names { // at once, as each waits for a tick
				input, ok := inputs[name]
				if !ok {
					t.Fatalf("no input for %s", name)
				}
				if strings.Contains(input, "%q") { // of an entity that soon is destroyed, which is found after the permission
					input = fmt.Sprintf(input, max(entity, 1).String())
				}
				calls.Go(func() {
					res, err := cs.CallTool(r.ctx, &sdk.CallToolParams{Name: tool(name), Arguments: json.RawMessage(input)})
					if err != nil {
						t.Errorf("%s: %v", name, err)
						return
					}
					answers[i] = text(res)
				})
			}
			calls.Wait()
			forbidden := 0
			for i, name := range names {
				got := answers[i]
				if strings.Contains(got, `"code":"invalid_input"`) && name != "physics.applyImpulse" && !strings.HasPrefix(name, "skills.") {
					t.Fatalf("%s: %s", name, got) // it says nothing of the permission
				}
				refused := strings.Contains(got, `"code":"forbidden"`)
				if refused == listed[tool(name)] {
					t.Errorf("profile %+v, entity %d: %s: listed %v, but a call gives %s", p, entity, name, listed[tool(name)], got)
				}
				if refused {
					forbidden++
				}
				met[!refused]++
				delete(listed, tool(name))
			}
			if len(listed) > 0 {
				t.Errorf("%s: tools %v of no skill", p.Name, listed)
			}
			events, _ := r.Skills.Trace(nil, fmt.Sprint(i, "-", entity, "-1"))
			if n := len(slices.DeleteFunc(events, func(e skill.Event) bool { return e.Code != skill.Forbidden })); n != forbidden {
				t.Errorf("%s: %d forbidden calls, %d of them in the trace", p.Name, forbidden, n)
			}
		}
	}
	if met[true] < 50 || met[false] < 50 {
		t.Errorf("listed and hidden: %v", met)
	}
}
