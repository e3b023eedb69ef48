// What every part of the page is given.

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

import type { Evidence, Figures } from './model.ts';
import type { Entry, View } from './select.ts';
import type { State } from './state.ts';

export interface Page {
  figures: Figures;
  /** Null until it is unpacked. */
  evidence: Evidence | null;
  from: View;
  change: (to: Partial<State>) => void;
  /** Opens what stands behind a figure. */
  open: (entry: Pick<Entry, 'run' | 'index'>) => void;
}

export const PageContext = createContext<Page | null>(null);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (page === null) throw new Error('a part of the page stands outside of it');
  return page;
}
