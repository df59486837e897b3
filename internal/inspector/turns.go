package inspector

import (
	"context"
	"slices"
)

// turns is a queue in which clients take turns: next returns what the client whose turn it is has added first, and then it is the
// turn of the next one. So a client that asks for much waits for itself, and another one waits at most for one thing of each client.
type turns[T comparable] struct {
	lines []line[T] // of the clients that wait, in the order of their turns; none is empty
}

type line[T comparable] struct {
	client string
	list   []T
}

func (q *turns[T]) empty() bool { return len(q.lines) == 0 }

func (q *turns[T]) of(client string) int {
	return slices.IndexFunc(q.lines, func(l line[T]) bool { return l.client == client })
}

func (q *turns[T]) add(client string, v T) {
	i := q.of(client)
	if i < 0 {
		i = len(q.lines)
		q.lines = append(q.lines, line[T]{client: client})
	}
	q.lines[i].list = append(q.lines[i].list, v)
}

// next removes what is next. It reports false if nothing waits.
func (q *turns[T]) next() (v T, ok bool) {
	if q.empty() {
		return v, false
	}
	first := q.lines[0]
	v = first.list[0]
	q.lines = slices.Delete(q.lines, 0, 1)
	if first.list = first.list[1:]; len(first.list) > 0 {
		q.lines = append(q.lines, first)
	}
	return v, true
}

// remove removes v wherever it waits.
func (q *turns[T]) remove(v T) {
	for i := range q.lines {
		q.lines[i].list = slices.DeleteFunc(q.lines[i].list, func(o T) bool { return o == v })
	}
	q.lines = slices.DeleteFunc(q.lines, func(l line[T]) bool { return len(l.list) == 0 })
}

type clientKey struct{}

// withClient notes whose request it is that has the context.
func withClient(ctx context.Context, client string) context.Context {
	return context.WithValue(ctx, clientKey{}, client)
}

func clientOf(ctx context.Context) string {
	client, _ := ctx.Value(clientKey{}).(string)
	return client
}
