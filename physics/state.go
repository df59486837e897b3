package physics

import "github.com/evertick/evertick/internal/state"

// parts is of what the state of a world consists. A new kind of state is another entry: Snapshot, Restore, CopyFrom and Hash
// visit all of them.
var parts = state.Parts[World, snapshotImage]{
	{
		Name: "header", Encode: (*World).encodeHeader, Check: (*snapshotImage).readHeader,
		Restore: (*World).restoreHeader, Copy: (*World).copyHeader, Hash: (*World).hashHeader,
	},
	{
		Name: "bodies", Encode: (*World).encodeBodies, Check: (*snapshotImage).readBodies,
		Restore: (*World).restoreBodies, Copy: (*World).copyBodies, Hash: (*World).hashBodies,
	},
	{
		Name: "shapes", Encode: (*World).encodeShapes, Check: (*snapshotImage).readShapes,
		Restore: (*World).restoreShapes, Copy: (*World).copyShapes, Hash: (*World).hashShapes,
	},
	{Name: "vertices", Encode: (*World).encodeVertices, Check: (*snapshotImage).readVertices}, // of shapes
	{
		Name: "contacts", Encode: (*World).encodeContacts, Check: (*snapshotImage).readContacts,
		Restore: (*World).restoreContacts, Copy: (*World).copyContacts, Hash: (*World).hashContacts,
	},
	{
		Name: "joints", Encode: (*World).encodeJoints, Check: (*snapshotImage).readJoints,
		Restore: (*World).restoreJoints, Copy: (*World).copyJoints, Hash: (*World).hashJoints,
	},
	{Name: "one-way platforms", Encode: (*World).encodeOneWays, Check: (*snapshotImage).readOneWays}, // of shapes
	{
		Name: "chains", Encode: (*World).encodeChains, Check: (*snapshotImage).readChains,
		Restore: (*World).restoreChains, Copy: (*World).copyChains, Hash: (*World).hashChains,
	},
	{
		Name: "pairs", Encode: (*World).encodePairs, Check: (*snapshotImage).readPairs,
		Restore: (*World).restorePairs, Copy: (*World).copyPairs, Hash: (*World).hashPairs,
	},
	{
		Name: "tuning", Encode: (*World).encodeTuning, Check: (*snapshotImage).readTuning,
		Restore: (*World).restoreTuning, Copy: (*World).copyTuning, Hash: (*World).hashTuning,
	},
	{
		Name: "masses", Encode: (*World).encodeMasses, Check: (*snapshotImage).readMasses,
		Restore: (*World).restoreMasses, Copy: (*World).copyMasses, Hash: (*World).hashMasses,
	},
	{
		Name: "sleep", Encode: (*World).encodeSleep, Check: (*snapshotImage).readSleep,
		Restore: (*World).restoreSleep, Copy: (*World).copySleep, Hash: (*World).hashSleep,
	},
	{
		Name: "switches", Encode: (*World).encodeSwitches, Check: (*snapshotImage).readSwitches,
		Restore: (*World).restoreSwitches, Copy: (*World).copySwitches, Hash: (*World).hashSwitches,
	},
	{
		Name: "materials", Encode: (*World).encodeMaterials, Check: (*snapshotImage).readMaterials,
		Restore: (*World).restoreMaterials, Copy: (*World).copyMaterials, Hash: (*World).hashMaterials,
	},
	{Name: "bases", Encode: (*World).encodeBases, Check: (*snapshotImage).readBases, Restore: (*World).restoreBases}, // of contacts
	{Name: "spans", Encode: (*World).encodeSpans, Check: (*snapshotImage).readSpans},                                 // of shapes
	{
		Name: "origin", Encode: (*World).encodeOrigin, Check: (*snapshotImage).readOrigin,
		Restore: (*World).restoreOrigin, Copy: (*World).copyOrigin, Hash: (*World).hashOrigin,
	},
}

// hashedParts are the parts in the order of Hash. Other engines than the solver have only the first ones.
var hashedParts = parts.Hashed("bodies", "shapes", "contacts", "header", "sleep", "joints", "chains", "pairs", "tuning", "origin",
	"masses", "materials", "switches")

const partsOfOtherEngines = 2
