// Package jetstream ships.
package jetstream
