// Package httpagent asks a language model over HTTP what an agent does: any endpoint that
// speaks the chat completions of OpenAI, with tool calls.
//
// # Model
//
// A [Provider] sends what the agent perceives as one JSON message, and the actions of
// agent.Config as tools: each argument a number with its bounds, "target" an entity id as
// "ent_5", "data" a text, "after" a number of ticks. Each tool call of the answer is an action, in
// their order; an answer without tool calls is to do nothing.
//
//	model, err := httpagent.New(httpagent.Config{
//		URL:   "http://127.0.0.1:8080/v1/chat/completions",
//		Model: "small",
//		Key:   httpagent.NewSecret(os.Getenv("MODEL_KEY")),
//	})
//	agents, err := agent.New(sim, agent.Config{Providers: []agent.ProviderConfig{{Provider: model, InFlight: 8}}, … })
//
// # Guarantees
//
// An answer is an agent.Decision whole, or an error: unknown tools, arguments that are no
// JSON, names or types that the tool does not have, numbers that no float32 holds, an answer
// beyond the limit, and any status but 200. What comes back is read up to MaxBytes and no
// further. Redirects are not followed. Errors quote the endpoint, up to 200 bytes of it, and
// never the key. A key is a Secret, which no print, log or encoder shows, nor those of a Config, a
// Provider or any other struct that holds it.
//
// One request is made for a decision: who has failed is asked again when the agent is due
// again.
package httpagent
