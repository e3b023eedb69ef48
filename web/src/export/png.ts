// Turns the text of an SVG into a PNG of twice its size.

/** Pixels of the image for each pixel of the drawing. */
const FACTOR = 2;

/** Waits until the browser has read an image. */
async function loaded(address: string): Promise<HTMLImageElement> {
  const image = new Image();
  image.src = address;
  await image.decode();
  return image;
}

/** Draws a self-contained SVG on a canvas and returns it as PNG. */
export async function pngOf(svg: string): Promise<Blob> {
  const address = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
  try {
    const image = await loaded(address);
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [image.naturalWidth * FACTOR, image.naturalHeight * FACTOR];
    const drawing = canvas.getContext('2d');
    if (drawing === null) throw new Error('this browser draws no images');
    drawing.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise<Blob>((resolve, reject) => {
      canvas.toBlob((blob) => (blob === null ? reject(new Error('the image is too large')) : resolve(blob)), 'image/png');
    });
  } finally {
    URL.revokeObjectURL(address);
  }
}
