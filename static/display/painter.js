// SPDX-License-Identifier: Apache-2.0
// The canvas: a picture is fetched and decoded whole, and then painted by one call, pixel for pixel.

export class Painter {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", { alpha: false });
    this.job = 0; // Counts what the page was told to show; an older picture is dropped.
  }

  // Make the canvas exactly as large as the screen, in device pixels. That empties it.
  resize({ width, height, ratio }) {
    this.job += 1;
    this.canvas.width = width;
    this.canvas.height = height;
    this.canvas.style.width = `${width / ratio}px`;
    this.canvas.style.height = `${height / ratio}px`;
    this.black();
  }

  black() {
    this.job += 1;
    this.context.fillStyle = "#000";
    this.context.fillRect(0, 0, this.canvas.width, this.canvas.height);
  }

  // Paint the picture at `url` and return how long each step took; null if something else is to be
  // shown by now. The picture before it stays until then.
  async paint(url) {
    this.job += 1;
    const { job } = this;
    const { width, height } = this.canvas;
    const begun = performance.now();
    const response = await fetch(`${url}?width=${width}&height=${height}`, { cache: "no-store" });
    if (!response.ok) return null;
    const pixels = new Uint8ClampedArray(await response.arrayBuffer());
    const fetched = performance.now();
    if (job !== this.job || pixels.length !== 4 * width * height) return null;
    const bitmap = await createImageBitmap(new ImageData(pixels, width, height));
    const decoded = performance.now();
    if (job !== this.job) return null;
    this.context.drawImage(bitmap, 0, 0);
    bitmap.close();
    await animationFrame();
    await animationFrame();
    if (job !== this.job) return null;
    return {
      fetch_ms: fetched - begun,
      decode_ms: decoded - fetched,
      paint_ms: performance.now() - decoded,
    };
  }
}

// The first callback comes before the browser paints, the second after it has handed the picture
// on. So the picture is on its way to the screen, and no page can know more.
const animationFrame = () => new Promise(requestAnimationFrame);
