// Makes a self-contained SVG of a chart: styles are inlined, in light colours or in those of the page.

import { FONT, titleLines } from '../charts/text.ts';

const STYLES = [
  'fill', 'fill-opacity', 'stroke', 'stroke-width', 'stroke-opacity', 'stroke-dasharray', 'opacity', 'font-size', 'font-weight',
  'font-variant-numeric', 'text-anchor', 'paint-order',
] as const;
const SVG = 'http://www.w3.org/2000/svg';

/** Lines above the chart: its title, and what was measured where and when. */
export interface Heading {
  title: string;
  subtitle: string;
}

/** Font sizes of title and subtitle in pixels. */
const TITLE = 14;
const SUBTITLE = 12;

/** Empty space around the chart in pixels. */
const EDGE = 8;

/** Lines of text below each other, the first one at `y`. */
function textLines(lines: readonly string[], y: number, size: number, weight: string, colour: string): SVGTextElement[] {
  return lines.map((line, index) => {
    const element = document.createElementNS(SVG, 'text');
    const attributes = { x: '0', y: String(y + index * (size + 4)), 'font-size': String(size), 'font-weight': weight, fill: colour };
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.textContent = line;
    return element;
  });
}

/** The text of a self-contained SVG of the chart, with its heading, in light colours or in those that the page has now. */
export function svgText(from: SVGElement, { title, subtitle }: Heading, colours: 'light' | 'page'): string {
  const copy = from.cloneNode(true) as SVGElement;
  // Computed colours depend on the colour scheme of the container.
  const container = document.createElement('div');
  container.style.cssText = `${colours === 'light' ? 'color-scheme: light; ' : ''}position: absolute; left: -99999px; top: 0; color: var(--ink); background: var(--paper)`;
  const quietly = document.createElement('span');
  quietly.style.color = 'var(--quiet)';
  container.append(copy, quietly);
  document.body.append(container);
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
  const { backgroundColor: paper, color: ink } = getComputedStyle(container);
  const { color: quiet } = getComputedStyle(quietly);
  container.remove();
  const [width, height] = [Number(from.getAttribute('width')), Number(from.getAttribute('height'))];
  // Text is measured in the size and weight of the subtitle, and the title is larger and bold.
  const titles = titleLines(title, (width * SUBTITLE / TITLE) * 0.9);
  const subtitles = titleLines(subtitle, width);
  const head = EDGE + titles.length * (TITLE + 4) + subtitles.length * (SUBTITLE + 4) + EDGE;
  const whole = document.createElementNS(SVG, 'svg');
  const [allWidth, allHeight] = [width + 2 * EDGE, height + head + EDGE];
  for (const [name, value] of Object.entries({
    width: String(allWidth), height: String(allHeight), viewBox: `-${EDGE} -${head} ${allWidth} ${allHeight}`, 'font-family': FONT,
  })) whole.setAttribute(name, value);
  const back = document.createElementNS(SVG, 'rect');
  for (const [name, value] of Object.entries({ x: `-${EDGE}`, y: `-${head}`, width: '100%', height: '100%', fill: paper })) {
    back.setAttribute(name, value);
  }
  const first = EDGE + TITLE - head;
  copy.setAttribute('overflow', 'visible');
  whole.append(
    back, ...textLines(titles, first, TITLE, '600', ink), ...textLines(subtitles, first + titles.length * (TITLE + 4), SUBTITLE, '400', quiet), copy,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(whole)}\n`;
}
