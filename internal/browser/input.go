package browser

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Modifiers of keys and of the mouse.
const (
	Alt     = 1
	Control = 2
	Meta    = 4
	Shift   = 8
)

// Box is a rectangle of the window, in pixels of CSS.
type Box struct{ X, Y, Width, Height float64 }

// At returns the point at shares of the width and the height.
func (b Box) At(right, down float64) (x, y float64) { return b.X + right*b.Width, b.Y + down*b.Height }

// Box scrolls an element into view, and returns where it is.
func (p *Page) Box(selector string) (box Box) {
	p.t.Helper()
	p.Eval(fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.scrollIntoView({block: "center", behavior: "instant"}); return e.getBoundingClientRect().toJSON(); })()`, selector), &box)
	return box
}

func (p *Page) mouse(kind string, x, y float64, more object) {
	p.t.Helper()
	event := object{"type": kind, "x": x, "y": y}
	for k, v := range more {
		event[k] = v
	}
	p.call("Input.dispatchMouseEvent", event)
}

var leftButton = object{"button": "left", "buttons": 1, "clickCount": 1}

// Move moves the mouse, with no button down.
func (p *Page) Move(x, y float64) {
	p.t.Helper()
	p.mouse("mouseMoved", x, y, nil)
	p.Settle()
}

// Press presses the left button at a point, Pull moves the mouse with it down, and Release releases it.
func (p *Page) Press(x, y float64) { p.t.Helper(); p.mouse("mousePressed", x, y, leftButton) }
func (p *Page) Pull(x, y float64)  { p.t.Helper(); p.mouse("mouseMoved", x, y, leftButton) }
func (p *Page) Release(x, y float64) {
	p.t.Helper()
	p.mouse("mouseReleased", x, y, leftButton)
	p.Settle()
}

// Wheel turns the wheel at a point, by pixels.
func (p *Page) Wheel(x, y, right, down float64) {
	p.t.Helper()
	p.mouse("mouseWheel", x, y, object{"deltaX": right, "deltaY": down})
	p.Settle()
}

// Click clicks the middle of an element.
func (p *Page) Click(selector string) {
	p.t.Helper()
	x, y := p.Box(selector).At(0.5, 0.5)
	p.Press(x, y)
	p.Release(x, y)
}

// Drag moves the mouse with its button down across an element, between shares of its width.
func (p *Page) Drag(selector string, from, to float64) {
	p.t.Helper()
	box := p.Box(selector)
	p.Press(box.At(from, 0.5))
	for i := 1; i <= 4; i++ {
		p.Pull(box.At(from+(to-from)*float64(i)/4, 0.5))
	}
	p.Release(box.At(to, 0.5))
}

// keys are those that are not letters: their number on Windows, without which they have no effect of their own, and the text that they write.
var keys = map[string]struct {
	number int
	text   string
}{
	"Tab": {9, ""}, "Enter": {13, "\r"}, "Escape": {27, ""}, " ": {32, " "}, "PageUp": {33, ""}, "PageDown": {34, ""}, "End": {35, ""}, "Home": {36, ""},
	"ArrowLeft": {37, ""}, "ArrowUp": {38, ""}, "ArrowRight": {39, ""}, "ArrowDown": {40, ""}, "Backspace": {8, ""}, "Delete": {46, ""},
}

// Key presses and releases a key, named as in KeyboardEvent.key.
func (p *Page) Key(key string, modifiers int) {
	p.t.Helper()
	k, named := keys[key]
	code := key
	if !named && len(key) == 1 {
		k.number, k.text, code = int(strings.ToUpper(key)[0]), key, "Key"+strings.ToUpper(key)
	}
	event := object{"type": "keyDown", "key": key, "code": code, "modifiers": modifiers, "windowsVirtualKeyCode": k.number}
	if k.text != "" && modifiers&^Shift == 0 {
		event["text"] = k.text
	}
	p.call("Input.dispatchKeyEvent", event)
	delete(event, "text")
	event["type"] = "keyUp"
	p.call("Input.dispatchKeyEvent", event)
	p.Settle()
}

// Type writes text where the focus is.
func (p *Page) Type(text string) {
	p.t.Helper()
	p.call("Input.insertText", object{"text": text})
	p.Settle()
}

// Choose lets an input element for files have the files or the folder of these paths.
func (p *Page) Choose(selector string, paths ...string) {
	p.t.Helper()
	var answer struct{ Result struct{ ObjectID string } }
	err := json.Unmarshal(p.call("Runtime.evaluate", object{"expression": fmt.Sprintf("document.querySelector(%q)", selector)}), &answer)
	if err != nil || answer.Result.ObjectID == "" {
		p.t.Fatalf("no %s: %v", selector, err)
	}
	p.call("DOM.setFileInputFiles", object{"files": paths, "objectId": answer.Result.ObjectID})
	p.Settle()
}

// Drop drops the files or folders of these paths on the middle of an element.
func (p *Page) Drop(selector string, paths ...string) {
	p.t.Helper()
	x, y := p.Box(selector).At(0.5, 0.5)
	for _, kind := range []string{"dragEnter", "dragOver", "drop"} {
		p.call("Input.dispatchDragEvent", object{"type": kind, "x": x, "y": y, "data": object{"items": []object{}, "files": paths, "dragOperationsMask": 1}})
	}
	p.Settle()
}

// Finger is where a finger touches the window, in pixels of CSS.
type Finger struct{ X, Y float64 }

// Touch puts fingers down, moves them, or lifts those that are no longer given; none lifts all.
func (p *Page) Touch(fingers ...Finger) {
	p.t.Helper()
	kind, points := "touchMove", []object{}
	switch {
	case len(fingers) > p.fingers:
		kind = "touchStart"
	case len(fingers) < p.fingers:
		kind = "touchEnd"
	}
	p.fingers = len(fingers)
	for i, f := range fingers {
		points = append(points, object{"x": f.X, "y": f.Y, "id": i})
	}
	p.call("Input.dispatchTouchEvent", object{"type": kind, "touchPoints": points})
}
