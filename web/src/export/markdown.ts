// Exports a table as Markdown.

import { download, fileName } from './download.ts';

/** Control characters and characters that change the text direction. */
const HARMFUL = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const SPACE = /\p{White_Space}+/gu;
const ENTITIES = new Map([['&', '&amp;'], ['<', '&lt;'], ['>', '&gt;'], ['@', '@<!-- -->']]);

/**
 * Puts text on one line and escapes everything that Markdown or HTML would interpret, like the program's own
 * Markdown. Comments are inserted into mentions and bare URLs, because they would become links otherwise.
 */
export function escaped(text: string): string {
  return text.replace(HARMFUL, ' ').replace(SPACE, ' ').replace(/^ | $/g, '')
    .replace(/[&<>@]|[\\`|*_[\]~$]/g, (letter) => ENTITIES.get(letter) ?? `\\${letter}`)
    .replaceAll('://', ':<!-- -->//').replaceAll('www.', 'www<!-- -->.');
}

/** Markdown of a table from its head and rows; `figures` tells which columns are right-aligned. */
export function markdown(title: string, head: readonly string[], rows: readonly (readonly string[])[], figures: readonly boolean[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escaped).join(' | ')} |`;
  const rule = head.map((_, index) => (figures[index] === true ? '---:' : '---'));
  return [`**${escaped(title)}**`, '', line(head), `| ${rule.join(' | ')} |`, ...rows.map(line), ''].join('\n');
}

/**
 * Copies a text to the clipboard, or downloads it if the browser refuses. Returns which of the two was done.
 */
export async function copyOrDownload(title: string, text: string): Promise<string> {
  try {
    await navigator.clipboard.writeText(text);
    return 'copied';
  } catch {
    download(fileName(title, 'md'), new Blob([text], { type: 'text/markdown' }));
    return 'saved';
  }
}
