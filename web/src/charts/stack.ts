// Stacked bars of shares, one row per configuration.

import { axisX, barX, gridX, plot, text } from '@observablehq/plot';

import { applyAria } from './a11y.ts';
import { overlayButton, rovingTabIndex } from './buttons.ts';
import { barsHeight, truncateToWidth } from './bars.ts';

export interface Part {
  name: string;
  share: number;
  /** Colour from the style sheet, as a CSS value. */
  colour: string;
}

export interface Stack {
  key: string;
  name: string;
  label: string;
  parts: readonly Part[];
  open: (() => void) | null;
}

const ROW = 34;

export function drawStacks(stacks: readonly Stack[], width: number, describe: string): SVGElement {
  const parts = stacks.flatMap((stack) => {
    let from = 0;
    return stack.parts.map((part) => {
      const start = from;
      from += part.share;
      return { key: stack.key, start, end: from, colour: part.colour, share: part.share };
    });
  }).filter((part) => part.share > 0);
  const ticks = [0, 0.25, 0.5, 0.75, 1];
  const svg = plot({
    width, height: barsHeight(stacks.length, 0), marginTop: 8, marginBottom: 36, marginLeft: 18, marginRight: 18,
    style: { fontSize: '12px', fontFamily: 'inherit', overflow: 'visible' },
    x: { domain: [0, 1], label: null },
    y: { type: 'band', domain: stacks.map((stack) => stack.key), padding: 0, axis: null },
    color: { type: 'identity' },
    marks: [
      gridX(ticks, { stroke: 'var(--line)', strokeOpacity: 1 }),
      axisX(ticks, {
        tickFormat: (share: number) => `${share * 100} %`, label: 'share of documents', labelAnchor: 'left', labelArrow: 'none',
        tickSize: 3, fill: 'var(--quiet)', stroke: 'var(--quiet)',
      }),
      barX(parts, { x1: 'start', x2: 'end', y: 'key', fill: 'colour', insetTop: 18, insetBottom: 5, stroke: 'var(--paper)', strokeWidth: 1 }),
      text(stacks, {
        text: (one: Stack) => truncateToWidth(one.name, width - 12 - one.label.length * 6.6), y: 'key', frameAnchor: 'left', textAnchor: 'start',
        dx: -18, dy: -7, fill: 'var(--ink)', stroke: 'var(--paper)', strokeWidth: 3,
      }),
      text(stacks, {
        text: 'label', y: 'key', frameAnchor: 'right', textAnchor: 'end', dx: 18, dy: -7, fontWeight: 600, fill: 'var(--ink)',
        stroke: 'var(--paper)', strokeWidth: 3,
      }),
    ],
  }) as SVGSVGElement;
  applyAria(svg, 'group', describe);
  stacks.forEach((stack, index) => {
    if (stack.open !== null) {
      overlayButton(svg, { x: 0, y: 8 + index * ROW, width, height: ROW }, `${stack.name}: ${stack.label}`, stack.open);
    }
  });
  rovingTabIndex(svg);
  return svg;
}
