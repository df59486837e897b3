package physics_test

import (
	"testing"

	"github.com/evertick/evertick/internal/migration"
)

// comingFromBox2D is the guide from Box2D, and lists the functions of the header of v3.2.
var comingFromBox2D = migration.Page{File: "migrating-from-box2d.md", Here: "physics", Engine: "Box2D", Prefix: "b2"}

func TestMigrationPageNamesWhatThereIs(t *testing.T) { comingFromBox2D.Names(t, 100) }

func TestMigrationPageHasEveryCall(t *testing.T) { comingFromBox2D.Calls(t, 350) }
