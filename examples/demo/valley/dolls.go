package valley

import (
	"github.com/evertick/evertick"
	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/physics3/rig"
)

const (
	dolls     = 5
	bones     = 14 // of rig.Human
	dropEvery = 96 // ticks between two ragdolls: each of them is there for dolls times as long
)

// tumble takes the ragdolls by turns, and drops each at the top of the stairs.
func (v *valley) tumble(t *evertick.Tick) error {
	if t.N%dropEvery != 0 {
		return nil
	}
	number := int(t.N / dropEvery % dolls)
	old := rig.Ragdoll{Bodies: v.dolls[number][:]}
	if err := old.Destroy(v.world); err != nil {
		return err
	}
	r := t.Rand(0, 1)
	def := rig.RagdollDef{
		Bones: rig.Human(1.8), Mass: 75, Friction: 3, Shape: physics3.DefaultShapeDef(),
		Position:       [3]float32{stairsX - stairs*tread + 0.3, rise*stairs + 0.1, r.Range(-2, 2)},
		Rotation:       [4]float32{0, r.Range(0.4, 1), r.Range(-0.3, 0), 1}, // faces the stairs, more or less, and leans forward
		LinearVelocity: [3]float32{r.Range(2, 3.5), 0, r.Range(-0.3, 0.3)},
	}
	def.Shape.Friction = 0.35
	doll, err := rig.NewRagdoll(v.world, def)
	if err != nil {
		return err
	}
	copy(v.dolls[number][:], doll.Bodies)
	return nil
}
