// newView draws frames in a canvas.
function newView(canvas, { onPick }) {
  return { canvas, stats: { decodeMs: [], uploadMs: [], drawMs: [] }, load() {}, draw() {}, fit() {}, follow() {}, select() {}, toWorld: (x, y) => [x, y] };
}
