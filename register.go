package evertick

// Register adds the columns, tags and blobs that a struct declares to the World, and sets its fields
// to their handles: see ecs.World.Register. Check also reports its errors. After an error no field is
// set, so a set-up looks at the error, or calls Check, before it uses the columns.
func (s *Sim) Register(columns any) error { return s.keepFault(s.World.Register(columns)) }

// keepFault keeps an error of the set-up for Check, and returns it.
func (s *Sim) keepFault(err error) error {
	if err != nil && !s.begun {
		s.faults = append(s.faults, err)
		s.planned = false
	}
	return err
}
