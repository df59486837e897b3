// Package graph treats the graph of a step: its nodes are bodies, and its edges the contacts or the joints between two of
// them. [Colours] finds edges that can be solved at the same time, and [Islands] the bodies that are connected. Neither
// knows how many dimensions the bodies have.
package graph
