package skill

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/google/jsonschema-go/jsonschema"
)

// ResourceBlobs names the ecs.Blobs in which skills keep the resources of entities: for each entity that has some the JSON of a
// []Resource, in the order of their kinds. So they are in snapshots, the hash and the log of calls, and whatever draws the
// world can read them.
const ResourceBlobs = "resources"

// Resource is something that belongs to an entity and that the simulation itself does not use, such as its mesh, its sound or its texture.
// An entity has at most one of each kind.
type Resource struct {
	Kind string `json:"kind" jsonschema:"as in mesh, sound or texture"`
	Model
}

// Model says which resource it is, and how it is drawn.
type Model struct {
	Name     string `json:"name,omitempty"`
	Address  string `json:"address,omitempty" jsonschema:"where a program finds it: a path or a URL, which the server does not open"`
	Position *Vec   `json:"position,omitempty" jsonschema:"of the model, relative to the entity, in metres"`
	Rotation *Quat  `json:"rotation,omitempty" jsonschema:"of the model, relative to the entity"`
	Scale    *Vec   `json:"scale,omitempty" jsonschema:"of the model, factors beside those of the entity"`
}

// Bounds of resources.
const (
	maxResources = 16   // of an entity
	maxName      = 255  // characters
	maxAddress   = 2048 // characters
)

// meshKind is the kind of a resource that an input calls mesh.
const meshKind = "mesh"

// resourceInput is the input of scene.setResource.
type resourceInput struct {
	entityRef
	Resource
}

// kindInput is the input of scene.removeResource.
type kindInput struct {
	entityRef
	Kind string `json:"kind"`
}

// resourceSet is the output of scene.setResource and scene.removeResource.
type resourceSet struct {
	ID      string `json:"id"`
	Changed bool   `json:"changed" jsonschema:"false if nothing changed"`
}

// resourcesOutput is the output of scene.getResources.
type resourcesOutput struct {
	ID        string     `json:"id"`
	Resources []Resource `json:"resources" jsonschema:"by kind"`
}

// constrainModel bounds the fields of a Model.
func (r *Registry) constrainModel(s *jsonschema.Schema) {
	e := float64(r.config.Extent)
	name, address := maxName, maxAddress
	property(s, "name").MaxLength, property(s, "address").MaxLength = &name, &address
	bound(s, -e, e, "position")
	bound(s, -maxQuat, maxQuat, "rotation")
	bound(s, -maxScale, maxScale, "scale")
}

func (r *Registry) constrainResource(s *jsonschema.Schema) {
	needEntity(s)
	property(s, "kind").Pattern = tagPattern
	r.constrainModel(s)
}

func constrainKind(s *jsonschema.Schema) {
	needEntity(s)
	property(s, "kind").Pattern = tagPattern
}

// normalise makes the length of the rotation one. prefix is the path of the fields.
func (m *Model) normalise(prefix string) *Error {
	if m.Rotation == nil {
		return nil
	}
	q, refused := normalised(prefix+"rotation", *m.Rotation)
	m.Rotation = &q
	return refused
}

func byKind(r Resource, kind string) int { return strings.Compare(r.Kind, kind) }

// resources returns those that a new entity gets, by kind.
func (in *CreateInput) resources() ([]Resource, *Error) {
	var all []Resource
	if in.Mesh != nil {
		if refused := in.Mesh.normalise("mesh."); refused != nil {
			return nil, refused
		}
		all = append(all, Resource{meshKind, *in.Mesh})
	}
	for _, r := range in.Resources {
		if refused := r.normalise("resources."); refused != nil {
			return nil, refused
		}
		at, has := slices.BinarySearchFunc(all, r.Kind, byKind)
		if has {
			return nil, refuse(InvalidInput, "resources", "has %q twice", r.Kind)
		}
		all = slices.Insert(all, at, r)
	}
	if len(all) > maxResources {
		return nil, refuse(InvalidInput, "resources", "an entity has at most %d", maxResources)
	}
	return all, nil
}

// storeResources replaces the resources of an entity.
func (c *Call) storeResources(id ecs.ID, all []Resource) error {
	blobs, err := c.Sim.World.Blobs(ResourceBlobs)
	if err != nil {
		return refuse(CapacityExceeded, "", "the world has no room for the name of resources")
	}
	if len(all) == 0 {
		blobs.Unset(id)
		return nil
	}
	data, err := json.Marshal(all)
	if err == nil {
		err = blobs.Set(id, data)
	}
	if errors.Is(err, fault.ErrCapacity) {
		return &Error{Code: CapacityExceeded, Text: shorten(err), Cause: err}
	}
	return err
}

// resourcesOf returns the resources of an entity. What another system has written to its blob, and is none, counts as none.
func (c *Call) resourcesOf(id ecs.ID) []Resource {
	all := []Resource{}
	blobs, err := c.Sim.World.Blobs(ResourceBlobs)
	if err != nil {
		return all
	}
	if data, has := blobs.Get(id); has && json.Unmarshal(data, &all) != nil {
		return []Resource{}
	}
	return all
}

func setResource(c *Call, in resourceInput) (resourceSet, error) {
	id, _, refused := c.entity(in.entityRef)
	if refused == nil {
		refused = in.Model.normalise("")
	}
	if refused != nil {
		return resourceSet{}, refused
	}
	all := c.resourcesOf(id)
	at, has := slices.BinarySearchFunc(all, in.Kind, byKind)
	switch {
	case has && all[at].equal(&in.Resource):
		return resourceSet{id.String(), false}, nil
	case has:
		all[at] = in.Resource
	case len(all) >= maxResources:
		return resourceSet{}, refuse(CapacityExceeded, "kind", "the entity has %d resources", len(all))
	default:
		all = slices.Insert(all, at, in.Resource)
	}
	return resourceSet{id.String(), true}, c.storeResources(id, all)
}

func (r *Resource) equal(o *Resource) bool {
	return r.Kind == o.Kind && r.Name == o.Name && r.Address == o.Address &&
		same(r.Position, o.Position) && same(r.Rotation, o.Rotation) && same(r.Scale, o.Scale)
}

func same[T comparable](a, b *T) bool { return a == b || a != nil && b != nil && *a == *b }

func removeResource(c *Call, in kindInput) (resourceSet, error) {
	id, _, refused := c.entity(in.entityRef)
	if refused != nil {
		return resourceSet{}, refused
	}
	all := c.resourcesOf(id)
	at, has := slices.BinarySearchFunc(all, in.Kind, byKind)
	if !has {
		return resourceSet{id.String(), false}, nil
	}
	return resourceSet{id.String(), true}, c.storeResources(id, slices.Delete(all, at, at+1))
}

func getResources(c *Call, in entityInput) (resourcesOutput, error) {
	id, _, refused := c.entity(in.entityRef)
	if refused != nil {
		return resourcesOutput{}, refused
	}
	return resourcesOutput{id.String(), c.resourcesOf(id)}, nil
}
