package causal_test

import (
	"io"
	"testing"

	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/causal"
	"github.com/evertick/evertick/skill"
)

// BenchmarkJSONLines measures a line.
func BenchmarkJSONLines(b *testing.B) {
	for _, s := range []causal.Step{
		{Source: agent.DefaultSource, Record: &agent.Record{Seq: 1 << 30, Cause: 1<<30 - 3, Type: agent.Accepted, Agent: 12345, Decision: 1 << 29, Actions: 2, Hash: 1 << 60}},
		{Source: skill.LogKind, Event: &skill.Event{Seq: 1 << 30, Cause: 1 << 29, Actor: "ent_12345", Profile: "player", Entity: 12345, Skill: "ecs.updateComponent@1", Input: 1 << 60, Output: 1 << 61}},
	} {
		name := "record"
		if s.Event != nil {
			name = "call"
		}
		b.Run("step="+name, func(b *testing.B) {
			sink := causal.JSONLines(io.Discard)
			b.ReportAllocs()
			for b.Loop() {
				if err := sink(&s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
