package physics3_test

import (
	"testing"

	"github.com/evertick/evertick/internal/migration"
)

// comingFromBox3D is the guide from Box3D, and lists the functions of its main header.
var comingFromBox3D = migration.Page{File: "migrating-from-box3d.md", Here: "physics3", Engine: "Box3D", Prefix: "b3"}

func TestMigrationPageNamesWhatThereIs(t *testing.T) { comingFromBox3D.Names(t, 100) }

func TestMigrationPageHasEveryCall(t *testing.T) { comingFromBox3D.Calls(t, 400) }
