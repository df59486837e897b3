package browser

import (
	"context"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// Move moves the mouse, with no button down.
func (p *Page) Move(x, y float64) {
	p.t.Helper()
	run(p, chromedp.MouseEvent(chromedp.MouseMoved, x, y))
	p.Settle()
}

func (p *Page) left(kind input.DispatchMouseEventType, x, y float64) {
	p.t.Helper()
	call(p, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: x, Y: y, Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1})
}

// Press presses the left button at a point, Pull moves the mouse with it down, and Release releases it.
func (p *Page) Press(x, y float64) { p.t.Helper(); p.left(chromedp.MousePressed, x, y) }
func (p *Page) Pull(x, y float64)  { p.t.Helper(); p.left(chromedp.MouseMoved, x, y) }
func (p *Page) Release(x, y float64) {
	p.t.Helper()
	p.left(chromedp.MouseReleased, x, y)
	p.Settle()
}

// Wheel turns the wheel at a point, by pixels.
func (p *Page) Wheel(x, y, right, down float64) {
	p.t.Helper()
	run(p, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error { // cdproto leaves out zeros, which Chromium demands
		return t.Call(ctx, input.DispatchMouseEvent.Method, map[string]any{"type": "mouseWheel", "x": x, "y": y, "deltaX": right, "deltaY": down}, nil)
	}))
	p.Settle()
}

// Click clicks the middle of an element.
func (p *Page) Click(selector string) {
	p.t.Helper()
	x, y := p.Box(selector).At(0.5, 0.5)
	run(p, chromedp.MouseClickXY(x, y))
	p.Settle()
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

// Shift is a modifier of keys.
const Shift = int(chromedp.ModifierShift)

// Key presses and releases a key, named as in KeyboardEvent.key.
func (p *Page) Key(key string, modifiers int) {
	p.t.Helper()
	text := key
	for r, k := range kb.Keys {
		if k.Key == key && k.Code == key { // one that is named
			text = string(r)
		}
	}
	run(p, chromedp.KeyEvent(text, chromedp.KeyModifiers(chromedp.Modifier(modifiers))))
	p.Settle()
}

// Type writes text where the focus is.
func (p *Page) Type(text string) {
	p.t.Helper()
	call(p, input.InsertText, input.InsertTextParams{Text: text})
	p.Settle()
}

// Choose lets an input element for files have the files or the folder of these paths.
func (p *Page) Choose(selector string, paths ...string) {
	p.t.Helper()
	run(p, chromedp.SetUploadFiles(chromedp.CSS(selector), paths))
	p.Settle()
}

// Drop drops the files or folders of these paths on the middle of an element.
func (p *Page) Drop(selector string, paths ...string) {
	p.t.Helper()
	x, y := p.Box(selector).At(0.5, 0.5)
	for _, kind := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		call(p, input.DispatchDragEvent, input.DispatchDragEventParams{Type: kind, X: x, Y: y, Data: &input.DragData{Files: paths, DragOperationsMask: 1}})
	}
	p.Settle()
}

// Finger is where a finger touches the window, in pixels of CSS.
type Finger struct{ X, Y float64 }

// Touch puts fingers down, moves them, or lifts those that are no longer given; none lifts all.
func (p *Page) Touch(fingers ...Finger) {
	p.t.Helper()
	kind := input.DispatchTouchEventTypeTouchMove
	switch {
	case len(fingers) > p.fingers:
		kind = input.DispatchTouchEventTypeTouchStart
	case len(fingers) < p.fingers:
		kind = input.DispatchTouchEventTypeTouchEnd
	}
	p.fingers = len(fingers)
	points := make([]*input.TouchPoint, len(fingers))
	for i, f := range fingers {
		id := float64(i)
		points[i] = &input.TouchPoint{X: f.X, Y: f.Y, ID: &id}
	}
	call(p, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: points})
}
