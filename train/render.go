package train

import (
	"fmt"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/raster"
)

// Renderer is implemented by Worlds of which there are pictures.
type Renderer interface {
	// AppendDraw adds a picture of world i to dst: shapes with colours, in the coordinates of
	// Definition.View. It does not change the world.
	AppendDraw(i int, dst *physics.Drawing) error
}

// Background is the colour that Render fills a picture with before it draws the world.
const Background physics.Color = 0xffffff

// Render draws world i as it is after the last call, in the view of the definition. After a step
// in mode SameStep that is the beginning of the next episode, if it has ended one. Render does not change the
// world, and allocates nothing after warm-up. Worlds that are no Renderer are ErrUnsupported;
// a world that has not begun, and any world between StepAsync and StepWait, is ErrStale; and after a step that has
// failed the error is ErrWorld. It panics if there is no such world.
func (b *Batch) Render(i int, to *raster.Canvas) error {
	if err := b.idle("Render"); err != nil {
		return err
	}
	b.episode(i)
	if b.failed != nil {
		return b.failed
	}
	r, can := b.worlds.(Renderer)
	if !can {
		return fault.Field(fault.ErrUnsupported, "train: Render: pictures of", b.def.Name)
	}
	if b.stages[i] == fresh {
		return fault.Field(fault.ErrStale, "train: Render: Reset has not begun world", i)
	}
	b.drawing.Reset()
	err := r.AppendDraw(i, &b.drawing)
	if err == nil {
		to.Clear(Background)
		err = to.Draw(&b.drawing, b.def.View)
	}
	if err != nil {
		return fmt.Errorf("train: Render: world %d: %w", i, err)
	}
	return nil
}

// AppendDraw adds a picture of a Sim of this definition to dst: by Draw, or as Sim.AppendDraw
// draws it, with joints.
func (d *SimDefinition) AppendDraw(sim *evertick.Sim, dst *physics.Drawing) error {
	if d.Draw != nil {
		return d.Draw(sim, dst)
	}
	return sim.AppendDraw(dst, evertick.DrawOptions{Bodies: physics.DrawOptions{Joints: true}})
}

// AppendDraw implements Renderer.
func (w *simWorlds) AppendDraw(i int, dst *physics.Drawing) error {
	return w.def.AppendDraw(w.list[i].sim, dst)
}
