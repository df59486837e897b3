// readFrame returns the head and the sections of a frame as views of its buffer.
function readFrame(buffer) { throw new Error("a frame of " + buffer.byteLength + " bytes"); }
