// What lies over the world as text: the scale bar, the legend of colours, and messages.

/** newOverlay puts its elements beside the canvas, into the parent, which is their frame. */
function newOverlay(canvas) {
  const add = (parent, name) => element(parent, "div", name);
  const root = add(canvas.parentElement, "world-overlay");
  const scale = add(root, "world-scale"), bar = add(scale, "world-bar"), length = add(scale, "world-length"), at = add(scale, "world-at");
  const legend = add(root, "world-legend"), title = add(legend, "world-by"), strip = add(legend, "world-strip");
  const ends = add(legend, "world-ends"), least = add(ends, "world-least"), greatest = add(ends, "world-greatest"), missing = add(legend, "world-missing");
  const forces = add(root, "world-forces"), message = add(root, "world-message");
  message.setAttribute("role", "status");
  legend.hidden = message.hidden = forces.hidden = true;

  const digits = v => Number.isInteger(v) && Math.abs(v) < 1e9 ? String(v) : String(+v.toPrecision(5));
  return {
    /** colour returns a variable of the style sheet as [red, green, blue] from 0 to 1, in the present theme. */
    colour(name) {
      root.style.color = `var(${name})`;
      const rgb = getComputedStyle(root).color.match(/[\d.]+/g).slice(0, 3).map(v => v / 255);
      root.style.color = "";
      return rgb;
    },
    /** scale shows a bar of a length in metres. */
    scale(metres, pixels) {
      bar.style.width = `${pixels.toFixed(1)}px`;
      setText(length, lengthText(metres));
    },
    /** at shows a point of the plane, or nothing. */
    at(point, digits) {
      setText(at, point ? `x ${point[0].toFixed(digits)}  y ${point[1].toFixed(digits)} m` : "");
    },
    /** legend shows what the colours mean; range null hides it. */
    legend(range, name, stops) {
      legend.hidden = !range;
      if (!range) return;
      setText(title, name);
      strip.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
      setText(least, range.known ? digits(range.least) : "no value");
      setText(greatest, range.known ? digits(range.greatest) : "");
      setText(missing, range.nan ? `× NaN: ${range.nan}` : "");
    },
    /** forces lists the forces on the selected body, with the colours of their arrows. */
    forces(list) {
      forces.hidden = !list.length;
      while (forces.childElementCount > list.length) forces.lastElementChild.remove();
      for (const [i, f] of list.entries()) {
        const row = forces.children[i] ?? add(forces, "world-force");
        row.style.setProperty("--of", "#" + f.colour.toString(16).padStart(6, "0"));
        setText(row, `${clean(f.name, 20)} ${forceText(f)}`);
      }
    },
    message(text) {
      message.hidden = !text;
      setText(message, text);
    },
    /** watchDevice says when nothing can be drawn: without WebGL 2, and from lost() to restored(), while the canvas has no graphics device. */
    watchDevice(gl, { lost, restored }) {
      if (!gl) this.message("This browser offers no WebGL 2, so the world cannot be drawn. All panels work.");
      canvas.addEventListener("webglcontextlost", e => {
        e.preventDefault(); // so that it is restored
        lost();
        this.message("The graphics device is lost. The world appears again when the browser restores it.");
      });
      canvas.addEventListener("webglcontextrestored", () => {
        restored();
        this.message("");
      });
    },
  };
}
