package scenes_test

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/spatial"
)

// paused is a mode besides menu, playing and birth: everything rests but the camera and the pick-ups' spin.
const paused = 3

// Kinds of input. The data of keys is a byte: left, right, down, up, fire.
const (
	inputKeys = iota
	inputStart
	inputPause
	inputQuit
	inputKinds
)

// countdown is what the rules use of a timer.
type countdown interface {
	Start()
	Stop()
	Set(ticks uint64)
	Add(ticks int64)
	Left() uint64
	Overtime() uint64
	Expired() bool
}

// arcade holds the rules of a small game: a ship shoots at enemies that crash into it, picks up time and
// slow motion, and has a mission to survive. A program decides when each rule is called, moves the bodies
// and runs the timers.
type arcade struct {
	world   *ecs.World
	physics *physics.World
	index   *spatial.Index
	seed    uint64
	embody  func(ecs.ID, physics.BodyDef) (physics.Body, error)
	bodyOf  func(ecs.ID) (physics.Body, bool)
	mode    func() uint8
	setMode func(uint8) error
	despawn func(ecs.ID)

	mission, birth, slow countdown

	hp, life, heat, steerX, steerY, spin []float32
	ships, bullets, enemies, pickups     ecs.Tag
	around                               spatial.Result

	arcadeState
	met arcadeCounts
}

// arcadeCounts say which cases a run has met. They are not part of the state.
type arcadeCounts struct{ games, births, deaths, expired, overtime, shot, crashed, picked, slowed, warped int }

// arcadeState is what the game keeps outside the columns.
type arcadeState struct {
	keys         byte
	aimX, aimY   float32
	score, lives uint32
	ship         ecs.ID
	camX, camY   float32
	shots        []shot   // to be spawned in this tick
	doomed       []ecs.ID // to be despawned in this tick
}

type shot struct{ x, y, vx, vy float32 }

func (a *arcadeState) AppendState(dst []byte) []byte {
	le := binary.LittleEndian
	dst = append(dst, a.keys)
	for _, v := range [...]float32{a.aimX, a.aimY, a.camX, a.camY} {
		dst = le.AppendUint32(dst, math.Float32bits(v))
	}
	dst = le.AppendUint32(le.AppendUint32(dst, a.score), a.lives)
	return le.AppendUint64(dst, uint64(a.ship)) // shots and doomed are empty between ticks
}

func (a *arcadeState) RestoreState(src []byte) error {
	if len(src) != 33 {
		return errors.New("not a state of the game")
	}
	le := binary.LittleEndian
	*a = arcadeState{shots: a.shots[:0], doomed: a.doomed[:0], keys: src[0]}
	for i, v := range [...]*float32{&a.aimX, &a.aimY, &a.camX, &a.camY} {
		*v = math.Float32frombits(le.Uint32(src[1+4*i:]))
	}
	a.score, a.lives, a.ship = le.Uint32(src[17:]), le.Uint32(src[21:]), ecs.ID(le.Uint64(src[25:]))
	return nil
}

// open adds columns and tags to the world.
func (a *arcade) open() error {
	var errs []error
	for _, c := range []struct {
		name   string
		values *[]float32
	}{{"hp", &a.hp}, {"life", &a.life}, {"heat", &a.heat}, {"steer.x", &a.steerX}, {"steer.y", &a.steerY}, {"spin", &a.spin}} {
		column, err := ecs.AddColumn[float32](a.world, c.name)
		*c.values = column.Values()
		errs = append(errs, err)
	}
	for _, c := range []struct {
		name string
		tag  *ecs.Tag
	}{{"ship", &a.ships}, {"bullet", &a.bullets}, {"enemy", &a.enemies}, {"pickup", &a.pickups}} {
		tag, err := a.world.Tag(c.name)
		*c.tag = tag
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (a *arcade) input(inputs []evertick.Input) error {
	for _, in := range inputs {
		var err error
		switch {
		case in.Kind == inputKeys:
			a.keys = in.Data[0]
		case in.Kind == inputStart && a.mode() == menu:
			err = a.startGame()
		case in.Kind == inputPause && a.mode() == playing:
			err = a.setMode(paused)
		case in.Kind == inputPause && a.mode() == paused:
			err = a.setMode(playing)
		case in.Kind == inputQuit && a.mode() != menu:
			err = a.setMode(menu)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *arcade) startGame() error {
	a.met.games++
	a.score, a.lives = 0, 3
	for id := range a.world.IDs() {
		a.doom(id)
	}
	a.ship = 0
	a.slow.Set(0)
	a.slow.Stop()
	a.mission.Set(250)
	a.mission.Start()
	return a.beginBirth()
}

func (a *arcade) beginBirth() error {
	a.met.births++
	a.birth.Set(25)
	a.birth.Start()
	return a.setMode(birth)
}

func (a *arcade) doom(id ecs.ID) {
	if !slices.Contains(a.doomed, id) {
		a.doomed = append(a.doomed, id)
	}
}

// pace is the factor of everything that slow motion slows down.
func (a *arcade) pace() float32 {
	if a.slow.Left() > 0 {
		return 0.25
	}
	return 1
}

// modify cools the guns, slower in slow motion.
func (a *arcade) modify() {
	for slot := range a.world.Query(ecs.With(a.ships)) {
		a.heat[slot] = max(0, a.heat[slot]-a.pace())
	}
	if a.pace() < 1 {
		a.met.slowed++
	}
}

func (a *arcade) pilot() error {
	slot, ok := a.world.Slot(a.ship)
	body, has := a.bodyOf(a.ship)
	if !ok || !has {
		return nil
	}
	key := func(bit int) float32 { return float32(a.keys >> bit & 1) }
	x, y := key(1)-key(0), key(3)-key(2)
	if x != 0 || y != 0 {
		a.aimX, a.aimY = x, y
	}
	if key(4) != 0 && a.heat[slot] == 0 {
		p := &a.world.Position
		a.heat[slot] = 5
		a.shots = append(a.shots, shot{p.X[slot] + float32(2*a.aimX), p.Y[slot] + float32(2*a.aimY), 40 * a.aimX, 40 * a.aimY})
	}
	return a.physics.ApplyLinearImpulseToCenter(body, [2]float32{2 * x, 2 * y})
}

// intend makes enemies near the ship steer towards it, and the others anywhere. The index is that of the
// tick before.
func (a *arcade) intend(tick uint64) error {
	for slot := range a.world.Query(ecs.With(a.enemies)) {
		r := loop.NewRand(a.seed, tick, uint64(slot), 1)
		a.steerX[slot], a.steerY[slot] = r.Range(-1, 1), r.Range(-1, 1)
	}
	near, err := a.nearShip(25)
	p := &a.world.Position
	for _, slot := range near {
		if id, ok := a.world.ID(slot); ok && a.enemies.Has(id) {
			ship, _ := a.world.Slot(a.ship)
			a.steerX[slot], a.steerY[slot] = (p.X[ship]-p.X[slot])*0.25, (p.Y[ship]-p.Y[slot])*0.25
		}
	}
	return err
}

// nearShip returns the slots of the index near the ship.
func (a *arcade) nearShip(radius float32) ([]uint32, error) {
	slot, ok := a.world.Slot(a.ship)
	if !ok {
		return nil, nil
	}
	p := &a.world.Position
	q := spatial.Queries{
		X: []float32{p.X[slot]}, Y: []float32{p.Y[slot]}, Z: []float32{0},
		Radius: []float32{radius}, Exclude: []uint32{slot},
	}
	err := a.index.Radius(&q, &a.around)
	return a.around.Slots, err
}

func (a *arcade) push() error {
	for slot := range a.world.Query(ecs.With(a.enemies)) {
		id, _ := a.world.ID(slot)
		body, ok := a.bodyOf(id)
		if !ok {
			continue
		}
		f := a.pace()
		if err := a.physics.ApplyLinearImpulseToCenter(body, [2]float32{a.steerX[slot] * f, a.steerY[slot] * f}); err != nil {
			return err
		}
	}
	return nil
}

// touch turns contacts into damage.
func (a *arcade) touch(touches []physics.Touch) {
	for _, t := range touches {
		x, y := a.entityOf(t.A), a.entityOf(t.B)
		if a.enemies.Has(y) {
			x, y = y, x
		}
		switch {
		case !a.enemies.Has(x):
		case a.bullets.Has(y):
			a.met.shot++
			a.score++
			a.hurt(x)
			a.knock(x)
			a.doom(y)
		case a.ships.Has(y):
			a.met.crashed++
			a.hurt(y)
			a.doom(x)
		}
	}
}

// knock moves an enemy that was shot by a metre. The index of the tick has it there, and its body follows
// in the next.
func (a *arcade) knock(id ecs.ID) {
	slot, _ := a.world.Slot(id)
	a.world.Position.X[slot] += a.aimX
	a.world.Position.Y[slot] += a.aimY
	a.world.Position.Touch()
}

func (a *arcade) hurt(id ecs.ID) {
	slot, _ := a.world.Slot(id)
	if a.hp[slot]--; a.hp[slot] <= 0 && id != a.ship {
		a.doom(id)
	}
}

func (a *arcade) entityOf(s physics.Shape) ecs.ID {
	body, err := a.physics.ShapeBody(s)
	if err != nil {
		return 0
	}
	id, _ := a.world.ID(a.physics.Columns().Slot[body.Index()])
	return id
}

// pickUp takes what is near the ship: time, or slow motion.
func (a *arcade) pickUp() error {
	near, err := a.nearShip(6)
	for _, slot := range near {
		id, ok := a.world.ID(slot)
		if !ok || !a.pickups.Has(id) {
			continue
		}
		a.met.picked++
		a.doom(id)
		if id%2 == 0 {
			a.mission.Add(40)
		} else {
			a.slow.Set(50)
			a.slow.Start()
		}
	}
	return err
}

// populate spawns what is due, counts the time of bullets, and ends births and lives.
func (a *arcade) populate(tick uint64) error {
	var errs []error
	for slot := range a.world.Query(ecs.With(a.bullets)) {
		if a.life[slot]--; a.life[slot] <= 0 {
			id, _ := a.world.ID(slot)
			a.doom(id)
		}
	}
	if a.mode() == birth {
		if _, ok := a.world.Slot(a.ship); !ok {
			errs = append(errs, a.spawnShip())
		}
		if a.birth.Expired() {
			a.birth.Stop()
			errs = append(errs, a.setMode(playing))
		}
		return errors.Join(errs...)
	}
	for _, s := range a.shots {
		errs = append(errs, a.spawnBody(a.bullets, 0.3, 1, s))
	}
	a.shots = a.shots[:0]
	n := 0
	if tick%20 == 0 {
		n++
	}
	if a.mission.Expired() {
		a.met.expired++
		n += 4
	}
	if o := a.mission.Overtime(); o > 0 {
		a.met.overtime++
		if o%15 == 0 {
			n++
		}
	}
	for i := range n {
		r := loop.NewRand(a.seed, tick, uint64(i), 2)
		errs = append(errs, a.spawnBody(a.enemies, 0.9, 2, shot{x: r.Range(-38, 38), y: 38, vy: -3}))
	}
	if tick%45 == 0 {
		errs = append(errs, a.spawnPickup(tick))
	}
	return errors.Join(append(errs, a.dieOrNot())...)
}

func (a *arcade) spawnShip() error {
	err := a.spawnBody(a.ships, 1, 3, shot{})
	for id := range a.world.IDs() {
		if a.ships.Has(id) {
			a.ship = id
		}
	}
	a.aimY = 1
	return err
}

// dieOrNot ends a life: the ship returns to the middle, or the game is over.
func (a *arcade) dieOrNot() error {
	slot, ok := a.world.Slot(a.ship)
	if !ok || a.hp[slot] > 0 {
		return nil
	}
	a.met.deaths++
	if a.lives--; a.lives == 0 {
		a.mission.Stop()
		return a.setMode(menu)
	}
	a.hp[slot] = 3
	return errors.Join(a.world.SetPosition(a.ship, 0, 0, 0), a.beginBirth())
}

func (a *arcade) spawnBody(tag ecs.Tag, radius, hp float32, s shot) error {
	if a.world.Len() > 90 {
		return nil
	}
	id, err := a.world.Spawn()
	if err != nil {
		return err
	}
	tag.Set(id)
	slot, _ := a.world.Slot(id)
	a.hp[slot], a.life[slot] = hp, 60
	def := physics.DefaultBodyDef()
	def.Type, def.Position, def.LinearVelocity = physics.DynamicBody, [2]float32{s.x, s.y}, [2]float32{s.vx, s.vy}
	body, err := a.embody(id, def)
	if err != nil {
		return err
	}
	_, err = a.physics.CreateCircle(body, physics.DefaultShapeDef(), physics.Circle{Radius: radius})
	return errors.Join(err, a.world.SetPosition(id, s.x, s.y, 0))
}

func (a *arcade) spawnPickup(tick uint64) error {
	id, err := a.world.Spawn()
	if err != nil {
		return err
	}
	a.pickups.Set(id)
	r := loop.NewRand(a.seed, tick, uint64(id), 3)
	return a.world.SetPosition(id, r.Range(-20, 20), r.Range(-20, 20), 0)
}

// retire despawns what is doomed.
func (a *arcade) retire() {
	for _, id := range a.doomed {
		a.despawn(id)
	}
	a.doomed = a.doomed[:0]
}

// follow moves the camera towards the ship, or on its way through the menu.
func (a *arcade) follow() {
	x, y := a.camX+1, a.camY*0.5
	if slot, ok := a.world.Slot(a.ship); ok && a.mode() != menu {
		x, y = a.world.Position.X[slot], a.world.Position.Y[slot]
	}
	a.camX += float32((x - a.camX) * 0.125)
	a.camY += float32((y - a.camY) * 0.125)
}

func (a *arcade) turn() {
	for slot := range a.world.Query(ecs.With(a.pickups)) {
		a.spin[slot] += 0.125
	}
}

// warp moves what leaves the field to the other side.
func (a *arcade) warp() {
	for slot := range a.world.Query(ecs.Without(a.pickups)) {
		for _, v := range [...]*float32{&a.world.Position.X[slot], &a.world.Position.Y[slot]} {
			if *v > 40 || *v < -40 {
				*v = min(max(-*v, -40), 40)
				a.met.warped++
			}
		}
	}
	a.world.Position.Touch()
}
