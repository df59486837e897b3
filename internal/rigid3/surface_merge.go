package rigid3

import (
	"cmp"
	"slices"
)

const (
	// mergeCosine is the cosine of the angle between two normals up to which their contacts make one manifold.
	mergeCosine = 0.999

	// crowdedCosine is the same for contacts that would make more than MaxSurfaceManifolds.
	crowdedCosine = 0.9
)

// Kinds of points of a surface, in the two highest bits of an ID.
const (
	vertexOfShape = iota // a vertex of the shape: the same above each triangle
	edgesMeet            // an edge of the shape and one of the surface
	vertexOfMesh         // a vertex of the surface
	innerPoint           // either of these on edges at which the surface goes on in the same plane
)

func vertexID(i int) uint32 { return featureID(vertexOfShape, 0, i) }

// merge decides which contacts make the same manifold, in the order of their depth, and returns how many manifolds there are.
func (k *SurfaceCollider) merge() (manifolds int) {
	slices.SortFunc(k.contacts, func(a, b faceContact) int {
		if a.depth != b.depth {
			return cmp.Compare(a.depth, b.depth)
		}
		return cmp.Compare(a.first, b.first) // as the triangles
	})
	k.dropCovered()
	var normals [MaxSurfaceManifolds]vec64
	for i := range k.contacts {
		c := &k.contacts[i]
		if c.spare {
			c.cluster = -1
			continue
		}
		best, most := -1, float64(crowdedCosine)
		for j := range manifolds {
			if d := normals[j].Dot(c.normal); d > most {
				best, most = j, d
			}
		}
		if most < mergeCosine && manifolds < MaxSurfaceManifolds {
			best = manifolds
			normals[best] = c.normal
			manifolds++
		}
		c.cluster = int8(best)
	}
	return manifolds
}

// dropCovered decides which spare contacts count: those without another contact in their direction that is as deep, but for LinearSlop.
func (k *SurfaceCollider) dropCovered() {
	for i := range k.contacts {
		c := &k.contacts[i]
		if !c.spare {
			continue
		}
		covered := false
		for j := range k.contacts {
			o := &k.contacts[j]
			if o.depth > c.depth+LinearSlop {
				break
			}
			if !o.spare && o.normal.Dot(c.toward) > 0 {
				covered = true
				break
			}
		}
		c.spare = covered
	}
}

// write makes a manifold of the contacts of a cluster. It leaves inner points out unless one of them is the deepest by a tolerance: a face of the shape
// that lies on several triangles has its corners above others, and the points between them carry nothing.
func (k *SurfaceCollider) write(cluster int8, frame, axes *pose64, origin, apart Vec, out *SurfaceManifold) {
	var normal vec64
	points := k.picked[:0]
	least := [2]float32{maxFinite, maxFinite} // of outer and of inner points
	for i := range k.contacts {
		c := &k.contacts[i]
		if c.cluster != cluster {
			continue
		}
		if least[0] == maxFinite && least[1] == maxFinite {
			normal, out.Face = c.normal, c.face
		}
		for _, p := range k.points[c.first:c.end] {
			inner := p.id >> 30 / innerPoint
			least[inner] = minFloat(p.separation, least[inner])
			if inner == 0 {
				points = append(points, p)
			}
		}
	}
	if least[1] < least[0]-referenceTolerance {
		for i := range k.contacts {
			if c := &k.contacts[i]; c.cluster == cluster {
				for _, p := range k.points[c.first:c.end] {
					if p.id>>30 == innerPoint {
						points = append(points, p)
					}
				}
			}
		}
	}
	k.picked = points
	n := k.toAxes(normal).narrow()
	points = reduce(distinct(points), n)
	sortByID(points)
	out.Manifold = Manifold{Normal: frame.rotate(normal).narrow(), Count: uint32(len(points))}
	for i := range points {
		p, to := &points[i], &out.Points[i]
		// Halfway between the surfaces.
		middle := p.p.addTimes(n, float32(-0.5*(p.separation+k.radius)))
		to.AnchorB = axes.rotate(middle.wide64()).narrow().Add(origin)
		to.AnchorA = to.AnchorB.Add(apart)
		to.Separation = p.separation - k.radius
		to.ID = p.id
	}
}

// distinct keeps the deepest of the points with the same ID, the first of equals, and sorts by ID.
func distinct(points []contactPoint) []contactPoint {
	slices.SortStableFunc(points, func(a, b contactPoint) int {
		if a.id != b.id {
			return cmp.Compare(a.id, b.id)
		}
		return cmp.Compare(a.separation, b.separation)
	})
	return slices.CompactFunc(points, func(a, b contactPoint) bool { return a.id == b.id })
}
