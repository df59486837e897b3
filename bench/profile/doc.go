// Package profile tells where the time of a simulation's step goes, and why the slow steps
// are slow.
package profile
