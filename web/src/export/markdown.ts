// A table as Markdown.

import { download, fileName } from './download.ts';

/** Control characters, and those that turn the direction of what follows. */
const HARMFUL = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const SPACE = /\p{White_Space}+/gu;
const ENTITIES = new Map([['&', '&amp;'], ['<', '&lt;'], ['>', '&gt;'], ['@', '@<!-- -->']]);

/**
 * Text on one line, with everything that Markdown or HTML might take for more than text made harmless: as the
 * program's own Markdown does it. Mentions and bare addresses become links unless something stands between.
 */
export function escaped(text: string): string {
  return text.replace(HARMFUL, ' ').replace(SPACE, ' ').replace(/^ | $/g, '')
    .replace(/[&<>@]|[\\`|*_[\]~$]/g, (letter) => ENTITIES.get(letter) ?? `\\${letter}`)
    .replaceAll('://', ':<!-- -->//').replaceAll('www.', 'www<!-- -->.');
}

/** Markdown of a table: head, rows, and which columns hold figures. */
export function markdown(title: string, head: readonly string[], rows: readonly (readonly string[])[], figures: readonly boolean[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(escaped).join(' | ')} |`;
  const rule = head.map((_, index) => (figures[index] === true ? '---:' : '---'));
  return [`**${escaped(title)}**`, '', line(head), `| ${rule.join(' | ')} |`, ...rows.map(line), ''].join('\n');
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
