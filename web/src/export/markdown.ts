// A table as Markdown.

import { download, fileName } from './download.ts';

function cell(text: string): string {
  return text.replace(/\s+/g, ' ').trim().replaceAll('\\', '\\\\').replaceAll('|', '\\|').replaceAll('<', '&lt;');
}

/** Markdown of a table: head, rows, and which columns hold figures. */
export function markdown(title: string, head: readonly string[], rows: readonly (readonly string[])[], figures: readonly boolean[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`;
  const rule = head.map((_, index) => (figures[index] === true ? '---:' : '---'));
  return [`**${cell(title)}**`, '', line(head), `| ${rule.join(' | ')} |`, ...rows.map(line), ''].join('\n');
}

/** Copies a text; where the browser refuses, hands it over as a file. Tells which it was. */
export async function copyOrDownload(title: string, text: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return 'copied';
  } catch {
    download(fileName(title, 'md'), 'text/markdown', text);
    return 'saved';
  }
}
