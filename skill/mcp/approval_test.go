package mcp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick/skill"
	"github.com/evertick/evertick/skill/mcp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// A held call is answered once another client has approved it; after the timeout the answer says that it waits, and
// the trace has its end.
func TestApproval(t *testing.T) {
	w, err := mcp.Build(3)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(
		skill.Approvals(w.Skills),
		w.Skills.AddProfile(skill.Profile{Name: "careful", Permissions: []string{"scene.write"}, Approval: []string{"scene.write"}}),
		w.Skills.AddProfile(skill.Profile{Name: "boss", Permissions: []string{"skills.approve"}}),
	); err != nil {
		t.Fatal(err)
	}
	r := run(t, w)
	boss := r.connect(t, r.server(t, mcp.Config{Profile: "boss", Actor: "boss"}))
	patient := r.connect(t, r.server(t, mcp.Config{Profile: "careful", Actor: "patient"}))
	hasty := r.connect(t, r.server(t, mcp.Config{Profile: "careful", Actor: "hasty", Timeout: 200 * time.Millisecond}))

	res := call(t, r.ctx, hasty, "scene.createEntity", `{"position":[0,1,0]}`, 0)
	if got := text(res); !res.IsError || !strings.Contains(got, `"code":"pending_approval"`) || res.Meta["evertick/seq"] != 1.0 {
		t.Fatalf("%s %v", got, res.Meta)
	}
	answered := make(chan *sdk.CallToolResult, 1)
	go func() {
		res, err := patient.CallTool(r.ctx, &sdk.CallToolParams{Name: "scene.createEntity", Arguments: json.RawMessage(`{"position":[0,2,0]}`)})
		if err != nil {
			t.Error(err)
		}
		answered <- res
	}()
	var list skill.PendingOutput
	for len(list.Calls) < 2 {
		list = good[skill.PendingOutput](t, r.ctx, boss, "skills.pending", `{}`)
	}
	select {
	case res := <-answered:
		t.Fatalf("not held: %s", text(res))
	default:
	}
	for _, h := range list.Calls {
		if res := call(t, r.ctx, boss, "skills.approve", fmt.Sprintf(`{"call":%d}`, h.Call), 0); res.IsError {
			t.Error(text(res))
		}
	}
	if res := <-answered; res == nil || res.IsError || !strings.Contains(text(res), `"id":"ent_3"`) {
		t.Errorf("%s", text(res))
	}
	trace := good[mcp.TraceOutput](t, r.ctx, hasty, "trace", `{}`)
	if n := len(trace.Events); n != 2 || trace.Events[0].Code != skill.PendingApproval || trace.Events[1].Code != skill.OK || trace.Events[1].Held != 1 {
		t.Errorf("%+v", trace)
	}
}
