package skill

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
)

// Actor is the identity of a caller. The host sets it, never the caller.
type Actor struct {
	// Name of 1 to 128 bytes of UTF-8. Each name has rates of its own.
	Name string
	// Profile is the name of a Profile of the registry, which says what the actor may do.
	Profile string
	// Entity is its own entity, for profiles with OwnEntity. 0: none.
	Entity ecs.ID
}

// Limits of names, in bytes.
const (
	maxActor   = 128
	maxProfile = 64
	maxSkill   = 64
	maxCalled  = 128 // of the name in a call, with a version
)

// Validate returns evertick.ErrRange if a name is empty, too long or not UTF-8.
func (a Actor) Validate() error {
	if !goodName(a.Name, maxActor) {
		return fault.Field(fault.ErrRange, "skill: Actor.Name", quote(a.Name))
	}
	if !goodName(a.Profile, maxProfile) {
		return fault.Field(fault.ErrRange, "skill: Actor.Profile", quote(a.Profile))
	}
	return nil
}

func goodName(s string, limit int) bool { return s != "" && len(s) <= limit && utf8.ValidString(s) }

// Profile is a set of permissions.
type Profile struct {
	// Name of 1 to 64 bytes of UTF-8.
	Name string
	// Permissions are those of Def.Permission. "scene.*" includes all permissions that begin with
	// "scene.", and "*" includes all.
	Permissions []string
	// Approval lists permissions in the same form. Another actor must approve calls of skills with these: see
	// Approvals.
	Approval []string
	// OwnEntity limits an actor to its own entity: of the skills that change something it
	// may call those whose input is a Targeter, with its own entity as the target.
	OwnEntity bool
}

// The profiles of every registry.
const (
	Reader  = "reader"  // looks, and changes nothing
	Player  = "player"  // looks, and moves its own entity
	Builder = "builder" // looks, and creates, changes and destroys everything
	Admin   = "admin"   // everything, snapshots and skills of the host included
)

func standardProfiles() []Profile {
	return []Profile{
		{Name: Reader, Permissions: []string{"scene.read", "physics.read", "world.read"}},
		{Name: Player, Permissions: []string{"scene.read", "physics.read", "world.read", "ecs.write", "physics.write"}, OwnEntity: true},
		{Name: Builder, Permissions: []string{"scene.*", "ecs.*", "physics.*", "world.read"}},
		{Name: Admin, Permissions: []string{"*"}},
	}
}

// Validate returns evertick.ErrRange if the name is empty, too long or not UTF-8, or a permission is empty.
func (p Profile) Validate() error {
	if !goodName(p.Name, maxProfile) {
		return fault.Field(fault.ErrRange, "skill: Profile.Name", quote(p.Name))
	}
	if i := slices.Index(p.Permissions, ""); i >= 0 {
		return fault.Element(fault.ErrRange, "skill: Profile.Permissions", i, `""`)
	}
	if i := slices.Index(p.Approval, ""); i >= 0 {
		return fault.Element(fault.ErrRange, "skill: Profile.Approval", i, `""`)
	}
	return nil
}

// Allows reports whether the profile has a permission.
func (p *Profile) Allows(permission string) bool { return matches(p.Permissions, permission) }

// matches reports whether a list includes a permission.
func matches(list []string, permission string) bool {
	for _, have := range list {
		prefix, all := strings.CutSuffix(have, "*")
		if have == permission || all && (prefix == "" || strings.HasSuffix(prefix, ".")) && strings.HasPrefix(permission, prefix) {
			return true
		}
	}
	return false
}

// AddProfile adds a profile, or replaces the one of that name, even a predefined one. A log does not
// contain it: the scenario must add it when it builds the Sim. Errors are those of Profile.Validate.
func (r *Registry) AddProfile(p Profile) error {
	if err := p.Validate(); err != nil {
		return err
	}
	p.Permissions, p.Approval = slices.Clone(p.Permissions), slices.Clone(p.Approval)
	r.profiles[p.Name] = &p
	return nil
}

// AddActor registers an actor for Apply, or replaces the one of that name. As with AddProfile, a log does
// not contain it.
func (r *Registry) AddActor(a Actor) error {
	if err := a.Validate(); err != nil {
		return err
	}
	r.actors[a.Name] = a
	return nil
}

// HasProfile reports whether there is a profile of that name. It may be called from any
// goroutine once profiles are no longer added.
func (r *Registry) HasProfile(name string) bool { return r.profiles[name] != nil }

// Allows reports whether the profile of an actor has a permission: for services of the host besides
// skills. It may be called from any goroutine once profiles are no longer added.
func (r *Registry) Allows(a Actor, permission string) bool {
	p, ok := r.profiles[a.Profile]
	return ok && p.Allows(permission)
}

// MayCall reports whether an actor may call a skill with some input, by its name, plain name, or name@version: every
// call of a skill that it may not call is Forbidden. For a profile with OwnEntity that input has the actor's own entity
// as its target. A call that needs approval may be made. It may be called from any goroutine once skills and profiles are
// no longer added.
func (r *Registry) MayCall(a Actor, name string) bool {
	s, ok := r.skills[name]
	return ok && r.permit(&a, s, a.Entity.String()) == nil
}

// permit refuses a call that the profile of its actor does not allow. target is the input's.
func (r *Registry) permit(a *Actor, s *entry, target string) *Error {
	profile, ok := r.profiles[a.Profile]
	switch {
	case !ok:
		return refuse(Forbidden, "", "unknown profile %s", quote(a.Profile))
	case !profile.Allows(s.Permission):
		return refuse(Forbidden, "", "profile %s does not have the permission %s", a.Profile, s.Permission)
	case !profile.OwnEntity || s.ReadOnly:
		return nil
	case !s.targets:
		return refuse(Forbidden, "", "profile %s may only change its own entity", a.Profile)
	case a.Entity == 0 || target != a.Entity.String():
		return refuse(Forbidden, "", "profile %s may only change its own entity %s, not %s", a.Profile, a.Entity, quote(target))
	}
	return nil
}
