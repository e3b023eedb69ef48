// Exports of a figure as files: SVG, PNG and CSV, whose names state the subject, the data and the date.

import type { Run } from '../model.ts';
import type { FigureData } from './csv.ts';
import { bytes, count, counted, tick } from '../format.ts';
import { csv } from './csv.ts';
import { download, fileName } from './download.ts';
import { pngOf } from './png.ts';
import { svgText } from './svg.ts';

/** What a figure is about. */
export interface Subject {
  title: string;
  run: Run;
}

export type FigureFormat = 'SVG' | 'PNG' | 'CSV';

/** Parts of a file name behind its title: run, documents and day. */
export function namedAfter({ name, data, started }: Run): string[] {
  return [name, `${tick(count(data.documents))} documents`, started.slice(0, 10)];
}

/** The line below the title of an exported drawing: data, machine and day. */
function subtitle({ data, machine, started, name }: Run): string {
  return [
    `${counted(data.documents, 'document')} of ${bytes(data.bytes)}`, `${counted(machine.cores, 'core')} ${machine.processor}`, `run ${name}`, started.slice(0, 10),
  ].join(', ');
}

/** Starts the download of a figure. Does nothing if it is not drawn yet or if the format needs data that it does not have. */
export async function downloadFigure(format: FigureFormat, { title, run }: Subject, svg: SVGElement | null, data: FigureData | null): Promise<void> {
  const name = fileName(title, format.toLowerCase(), namedAfter(run));
  if (format === 'CSV') {
    if (data !== null) download(name, new Blob([csv(data)], { type: 'text/csv' }));
    return;
  }
  if (svg === null) return;
  const heading = { title, subtitle: subtitle(run) };
  if (format === 'SVG') download(name, new Blob([svgText(svg, heading, 'light')], { type: 'image/svg+xml' }));
  else download(name, await pngOf(svgText(svg, heading, 'page')));
}
