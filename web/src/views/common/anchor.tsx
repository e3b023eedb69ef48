// Links to parts and figures of the page, under the reader's choice.

import { createContext } from 'preact';
import type { JSX } from 'preact';

import { usePage } from '../../page.ts';
import { toFragment } from '../../state.ts';

/** Id of the part around a figure. */
export const PartContext = createContext('');

/** Element id of the place of a part; it exists before the part is drawn. */
export function placeId(part: string): string {
  return `at-${part}`;
}

/** Element id of a figure, named by `part:figure`. */
export function figureId(at: string): string {
  return `figure-${at.replace(':', '-')}`;
}

/** Name of a figure in links, made of its title. */
export function figureName(part: string, title: string): string {
  const words = title.toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
  return `${part}:${words === '' ? 'figure' : words}`;
}

/** A link to a place, which is shown when the pointer or the focus is near. */
export function Anchor({ at, title }: { at: string; title: string }): JSX.Element {
  const { figures, view } = usePage();
  const address = toFragment({ ...view.state, opened: null, at }, figures);
  return <a class="anchor" href={`#${address}`} aria-label={`Link to: ${title}`}>#</a>;
}
