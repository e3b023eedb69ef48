// Exports a chart as a self-contained SVG file: styles are inlined, in light colours.

import { download, fileName } from './download.ts';

const STYLES = [
  'fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-opacity', 'stroke-dasharray', 'opacity', 'font-size', 'font-weight',
  'font-variant-numeric', 'text-anchor', 'paint-order',
] as const;
const SVG = 'http://www.w3.org/2000/svg';
const FONT = 'system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';

/** The text of a self-contained SVG of the chart, with its title. */
export function svgText(from: SVGElement, title: string): string {
  const copy = from.cloneNode(true) as SVGElement;
  // Computed colours depend on the colour scheme of the container; this one is light.
  const light = document.createElement('div');
  light.style.cssText = 'color-scheme: light; position: absolute; left: -99999px; top: 0; color: var(--ink)';
  light.append(copy);
  document.body.append(light);
  for (const one of copy.querySelectorAll('.figure-button, style')) one.remove();
  for (const one of [copy, ...copy.querySelectorAll<SVGElement>('*')]) {
    const computed = getComputedStyle(one);
    const written = STYLES.map((name) => {
      const value = computed.getPropertyValue(name);
      return value === '' ? '' : `${name}:${value.replaceAll('"', "'")}`;
    });
    for (const [name, value] of Object.entries({ fill: computed.fill, stroke: computed.stroke })) {
      if (one.hasAttribute(name)) one.setAttribute(name, value.replaceAll('"', "'"));
    }
    one.removeAttribute('class');
    one.setAttribute('style', written.filter((style) => style !== '').join(';'));
  }
  const paper = '#ffffff';
  light.remove();
  const [width, height] = [Number(from.getAttribute('width')), Number(from.getAttribute('height'))];
  const head = 28;
  const whole = document.createElementNS(SVG, 'svg');
  for (const [name, value] of Object.entries({
    width: String(width + 16), height: String(height + head + 8), viewBox: `-8 -${head} ${width + 16} ${height + head + 8}`,
    'font-family': FONT,
  })) whole.setAttribute(name, value);
  const back = document.createElementNS(SVG, 'rect');
  for (const [name, value] of Object.entries({ x: '-8', y: `-${head}`, width: '100%', height: '100%', fill: paper })) {
    back.setAttribute(name, value);
  }
  const words = document.createElementNS(SVG, 'text');
  for (const [name, value] of Object.entries({ x: '0', y: '-10', 'font-size': '14', 'font-weight': '600', fill: '#1a1d21' })) {
    words.setAttribute(name, value);
  }
  words.textContent = title;
  copy.setAttribute('overflow', 'visible');
  whole.append(back, words, copy);
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(whole)}\n`;
}

/** Starts the download of a chart as SVG; does nothing if it is not drawn yet. */
export function downloadSvg(from: SVGElement | null, title: string): void {
  if (from !== null) download(fileName(title, 'svg'), 'image/svg+xml', svgText(from, title));
}
