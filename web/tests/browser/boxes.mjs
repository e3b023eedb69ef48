// Measures the boxes of all texts in figures: which overlap, and which leave their figure.

/** Draws everything and makes it visible, as printing does. */
export async function drawAll(page) {
  await page.addStyleTag({ content: '.part { content-visibility: visible !important }' });
  await page.evaluate(() => {
    dispatchEvent(new Event('beforeprint'));
    for (const one of document.querySelectorAll('details:not(.filters)')) one.open = true;
  });
}

/**
 * Descriptions of all texts of figures that overlap or stand outside; empty if there are none. Boxes of fonts are
 * a little higher than their letters, so lines may touch.
 */
export function misplacedTexts(page) {
  return page.evaluate(() => {
    const [BESIDE, BELOW, EDGE] = [1.5, 3.5, 2];
    const found = [];
    for (const svg of document.querySelectorAll('figure svg')) {
      const drawing = svg.getBoundingClientRect();
      const figure = svg.closest('figure');
      if (drawing.width === 0) continue;
      const frame = figure.getBoundingClientRect();
      const title = (figure.querySelector('figcaption')?.textContent ?? '').slice(0, 60);
      const texts = [...svg.querySelectorAll('text')].filter((one) => one.textContent.trim() !== '')
        .map((one) => ({ words: one.textContent, box: one.getBoundingClientRect() })).filter(({ box }) => box.width > 0);
      const told = ({ words, box }) => `“${words.slice(0, 50)}” ${Math.round(box.left - drawing.left)} to ${Math.round(box.right - drawing.left)}, ${Math.round(box.top - drawing.top)} to ${Math.round(box.bottom - drawing.top)}`;
      texts.forEach((one, place) => {
        const { box } = one;
        if (box.left < frame.left - EDGE || box.right > frame.right + EDGE || box.top < drawing.top - EDGE || box.bottom > drawing.bottom + EDGE) {
          found.push(`${title}: outside of ${Math.round(drawing.width)} × ${Math.round(drawing.height)}: ${told(one)}`);
        }
        for (const other of texts.slice(place + 1)) {
          const wide = Math.min(box.right, other.box.right) - Math.max(box.left, other.box.left);
          const high = Math.min(box.bottom, other.box.bottom) - Math.max(box.top, other.box.top);
          if (wide > BESIDE && high > BELOW) found.push(`${title}: overlap: ${told(one)} and ${told(other)}`);
        }
      });
    }
    return found;
  });
}

/** Number of figures with at least one text. */
export function figures(page) {
  return page.evaluate(() => [...document.querySelectorAll('figure svg')].filter((one) => one.querySelector('text') !== null).length);
}
