// Pointers, wheel and keys that move the camera and pick.

const clickPixels = 5; // a pointer that moves less has clicked
const pickPixels = 8;  // how far from a point a click may be

const planeMoves = { turn: panCamera, pan: panCamera, zoom: zoomCamera };

/**
 * addControls lets pointers, the wheel and keys move a camera. moves are the functions that do it: turn(camera, dx, dy) by a drag, pan by a drag of two
 * fingers, with Shift or another button, and zoom(camera, px, py, factor).
 * @param {HTMLCanvasElement} canvas
 * @param {object} camera
 * @param {{moved: function(boolean), fit: function(), picked: function(number, number, PointerEvent), hover: function(number, number)|null}} on
 *   moved(panned) after a change of the camera; picked and hover with the pixel; hover(NaN, NaN) when the pointer leaves
 */
function addControls(canvas, camera, on, moves = planeMoves) {
  const down = new Map(); // pixel of each pressed pointer
  const turns = moves.turn !== moves.pan;
  let travelled = 0;      // pixels since the first of them was pressed; Infinity: this is no click
  let panning = false;
  const pixelOf = e => {
    const box = canvas.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  };
  const middle = () => {
    const all = [...down.values()], n = all.length;
    const x = all.reduce((sum, p) => sum + p[0], 0) / n, y = all.reduce((sum, p) => sum + p[1], 0) / n;
    return [x, y, n > 1 ? Math.hypot(all[0][0] - all[1][0], all[0][1] - all[1][1]) : 0];
  };

  canvas.addEventListener("pointerdown", e => {
    if (e.pointerType === "mouse" && e.button !== 0 && !turns) return;
    canvas.setPointerCapture(e.pointerId);
    panning = e.button !== 0 || e.shiftKey || down.size > 0;
    travelled = down.size || e.button !== 0 ? Infinity : 0;
    down.set(e.pointerId, pixelOf(e));
    canvas.style.cursor = "grabbing";
  });
  canvas.addEventListener("pointermove", e => {
    if (!down.has(e.pointerId)) return on.hover(...pixelOf(e));
    const [x, y, apart] = middle();
    down.set(e.pointerId, pixelOf(e));
    const [nx, ny, nowApart] = middle();
    travelled += Math.hypot(nx - x, ny - y);
    if (travelled < clickPixels) return;
    const pans = panning || !turns;
    (pans ? moves.pan : moves.turn)(camera, nx - x, ny - y);
    if (apart > 0 && nowApart > 0) moves.zoom(camera, nx, ny, nowApart / apart);
    on.moved(pans);
  });
  const release = e => {
    if (!down.delete(e.pointerId)) return;
    if (e.type === "pointerup" && travelled < clickPixels) on.picked(...pixelOf(e), e);
    if (!down.size) canvas.style.cursor = "";
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => on.hover(NaN, NaN));
  canvas.addEventListener("dblclick", on.fit);
  if (turns) canvas.addEventListener("contextmenu", e => e.preventDefault());
  canvas.addEventListener("wheel", e => {
    e.preventDefault();
    const pixels = e.deltaY * [1, 33, 400][e.deltaMode];
    moves.zoom(camera, ...pixelOf(e), Math.exp(-pixels * (e.ctrlKey ? 0.01 : 0.002))); // a pinch of a touch pad comes with ctrlKey
    on.moved(false);
  }, { passive: false });
  canvas.addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const step = 0.1 * Math.min(camera.width, camera.height), pan = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] }[e.key];
    const zoom = { "+": 1.25, "=": 1.25, "-": 0.8, "_": 0.8 }[e.key];
    const pans = e.shiftKey || !turns;
    if (pan && pans) moves.pan(camera, ...pan);
    else if (pan) moves.turn(camera, ...pan);
    else if (zoom) moves.zoom(camera, camera.width / 2, camera.height / 2, zoom);
    else if (e.key === "f") on.fit();
    else return;
    e.preventDefault();
    e.stopPropagation();
    if (pan || zoom) on.moved(Boolean(pan) && pans);
  });
  canvas.style.touchAction = "none";
  canvas.tabIndex = 0;
}
