package physics3

import "github.com/evertick/evertick/internal/state"

// parts is of what the state of a world consists. A new kind of state is another entry: Snapshot, Restore, CopyFrom and Hash visit all of them.
var parts = state.Parts[World, snapshotImage]{
	{
		Name: "header", Encode: (*World).encodeHeader, Check: (*snapshotImage).readHeader,
		Restore: (*World).restoreHeader, Copy: (*World).copyHeader, Hash: (*World).hashHeader,
	},
	{
		Name: "bodies", Encode: (*World).encodeBodies, Check: (*snapshotImage).readBodies,
		Restore: (*World).restoreBodies, Copy: (*World).copyBodies, Hash: (*World).hashBodies,
	},
	{Name: "hulls", Encode: (*World).encodeContents, Check: (*snapshotImage).readContents}, // of shapes
	{
		Name: "shapes", Encode: (*World).encodeShapes, Check: (*snapshotImage).readShapes,
		Restore: (*World).restoreShapes, Copy: (*World).copyShapes, Hash: (*World).hashShapes,
	},
	{
		Name: "contacts", Encode: (*World).encodeContacts, Check: (*snapshotImage).readContacts,
		Restore: (*World).restoreContacts, Copy: (*World).copyContacts, Hash: (*World).hashContacts,
	},
	{Name: "bases", Encode: (*World).encodeBases, Check: (*snapshotImage).readBases, Restore: (*World).restoreBases}, // of contacts
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
		Name: "origin", Encode: (*World).encodeOrigin, Check: (*snapshotImage).readOrigin,
		Restore: (*World).restoreOrigin, Copy: (*World).copyOrigin, Hash: (*World).hashOrigin,
	},
	{Name: "touches", Encode: (*World).encodeTouches, Check: (*snapshotImage).readTouches, Restore: (*World).restoreTouches}, // of contacts
	{
		Name: "joints", Encode: (*World).encodeJoints, Check: (*snapshotImage).readJoints,
		Restore: (*World).restoreJoints, Copy: (*World).copyJoints, Hash: (*World).hashJoints,
	},
}

// hashedParts are the parts in the order of Hash.
var hashedParts = parts.Hashed("bodies", "shapes", "contacts", "header", "sleep", "pairs", "tuning", "origin", "masses", "joints")
