package twin

import (
	"context"
	"net/url"
	"strconv"
	"syscall/js"

	"github.com/evertick/evertick/internal/inspector"
	"github.com/evertick/evertick/loop"
)

// Run is the main function of the program of a page: it runs in a worker, answers the page, and never returns unless it
// cannot begin. The error is that of Config.Validate or of the Scenario.
//
// The worker's script has set the global evertickWorker: ready(answer) takes a function that answers a message
// {id, method, path, body}, and answered(id, status, type, body) sends the answer to the page.
func Run(c Config) error {
	m, err := newMachine(c, dialWebSocket, new(loop.SystemClock))
	if err != nil {
		return err
	}
	worker := js.Global().Get("evertickWorker")
	worker.Call("ready", js.FuncOf(func(_ js.Value, args []js.Value) any {
		id, r, err := parseRequest(args[0])
		go func() { // a callback of the page must not wait
			var a inspector.Answer
			if err != nil {
				a = inspector.Refuse(400, err)
			} else {
				a = m.answer(context.Background(), r)
			}
			worker.Call("answered", id, a.Status, a.Type, bytesOf(a.Body))
		}()
		return nil
	}))
	m.run(nil)
	return nil
}

// parseRequest reads a message of the page.
func parseRequest(message js.Value) (id int, r *inspector.Request, err error) {
	id = message.Get("id").Int()
	u, err := url.Parse(message.Get("path").String())
	if err != nil {
		return id, nil, err
	}
	query, err := url.ParseQuery(u.RawQuery)
	r = &inspector.Request{Method: message.Get("method").String(), Path: u.Path, Query: query}
	if body := message.Get("body"); body.Truthy() {
		r.Body = make([]byte, body.Get("length").Int())
		js.CopyBytesToGo(r.Body, body)
	}
	return id, r, err
}

func bytesOf(data []byte) js.Value {
	array := js.Global().Get("Uint8Array").New(len(data))
	js.CopyBytesToJS(array, data)
	return array
}

// webSocket is a socket of the browser.
type webSocket struct {
	value js.Value
	funcs []js.Func
}

// mostUnsent is how many bytes may wait for the network: a socket takes no more.
const mostUnsent = 1 << 20

// dialWebSocket is a dialer. A URL that the browser refuses is a connection that ends at once.
func dialWebSocket(url string, to receiver) (s socket) {
	defer func() {
		if e, ok := recover().(js.Error); ok {
			to.closed(e.Error())
			s = closedSocket{}
		}
	}()
	w := &webSocket{value: js.Global().Get("WebSocket").New(url)}
	w.value.Set("binaryType", "arraybuffer")
	w.on("onopen", func(js.Value) { to.opened() })
	w.on("onmessage", func(event js.Value) {
		data := event.Get("data")
		if data.Type() == js.TypeString {
			to.closed("a text message: this is no server of package replica")
			return
		}
		array := js.Global().Get("Uint8Array").New(data)
		message := make([]byte, array.Get("length").Int())
		js.CopyBytesToGo(message, array)
		to.message(message)
	})
	w.on("onclose", func(event js.Value) {
		reason := event.Get("reason").String()
		if reason == "" {
			reason = "the connection has ended, or there is none (code " + strconv.Itoa(event.Get("code").Int()) + ")"
		}
		to.closed(reason)
	})
	return w
}

// on sets a handler of an event.
func (w *webSocket) on(name string, f func(event js.Value)) {
	handler := js.FuncOf(func(_ js.Value, args []js.Value) any { f(args[0]); return nil })
	w.funcs = append(w.funcs, handler)
	w.value.Set(name, handler)
}

func (w *webSocket) send(message []byte) bool {
	if w.value.Get("readyState").Int() != 1 || w.value.Get("bufferedAmount").Int() > mostUnsent {
		return false
	}
	w.value.Call("send", bytesOf(message))
	return true
}

func (w *webSocket) close() {
	for _, name := range []string{"onopen", "onmessage", "onclose"} {
		w.value.Set(name, nil)
	}
	w.value.Call("close")
	for _, f := range w.funcs {
		f.Release()
	}
}

type closedSocket struct{}

func (closedSocket) send([]byte) bool { return false }
func (closedSocket) close()           {}
