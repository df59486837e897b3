// Package rig builds what moves in a game out of the bodies, shapes and joints of physics3: cars whose wheels are rays, ragdolls, chains, ropes and
// bridges. It does nothing that a caller of physics3 could not do.
package rig
