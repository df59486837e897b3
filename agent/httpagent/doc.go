// Package httpagent lets a language model decide for agents, over HTTP: any endpoint with the chat
// completions of OpenAI and tool calls.
//
// # Model
//
// A [Provider] sends the perception as one JSON message, and the actions of
// agent.Config as tools: each argument a number with its bounds, "target" an entity id such as
// "ent_5", "data" a text, "after" a number of ticks. Each tool call of the answer is an action, in
// their order; an answer without tool calls is a decision without actions.
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
// An answer is a whole agent.Decision, or an error: for unknown tools, arguments that are not
// JSON, names or types that the tool does not have, numbers that no float32 holds, an answer
// beyond the limit, and any status but 200. At most MaxBytes of an answer are read.
// Redirects are not followed. Errors quote up to 200 bytes of the answer, and
// never the key. A key is a Secret: no print, log or encoder shows it, alone or in a Config, a
// Provider or any other struct.
//
// A decision is one HTTP request. After a failure the next one follows when the agent is due
// again. If an answer that is a failure has the header Retry-After, as a number of seconds or as a date, no agent asks
// the provider before that time: the error is an *agent.RetryError. So it is after status 429 and 503 without that
// header, for Config.Backoff.
package httpagent
