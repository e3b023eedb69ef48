// Unpacks the two data parts of the page: base64 of gzip of JSON.

import type { Evidence, PageData } from './model.ts';

async function unpack(id: string): Promise<unknown> {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`this page has no part "${id}"`);
  const binary = atob((element.textContent ?? '').trim());
  // Frees the text, which is as long as the data and is not needed again.
  element.textContent = '';
  const packed = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index += 1) packed[index] = binary.charCodeAt(index);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return JSON.parse(await new Response(stream).text());
}

/** Unpacks the data of charts and tables; fails if its format is unknown. */
export async function unpackPageData(): Promise<PageData> {
  const figures = (await unpack('figures')) as PageData;
  if (figures.format !== 2) throw new Error(`data of format ${String(figures.format)}, and only 2 is known`);
  return figures;
}

/** Unpacks the details that a click on a result opens. */
export async function unpackEvidence(): Promise<Evidence> {
  return (await unpack('evidence')) as Evidence;
}
