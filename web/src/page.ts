// Context shared by all parts of the page.

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

import type { Evidence, Figures } from './model.ts';
import type { Entry, View } from './select.ts';
import type { State } from './state.ts';

export interface Page {
  figures: Figures;
  /** Details behind the results; null until they are unpacked. */
  evidence: Evidence | null;
  from: View;
  change: (to: Partial<State>) => void;
  /** Opens the dialog with the details behind a result. */
  open: (entry: Pick<Entry, 'run' | 'index'>) => void;
}

export const PageContext = createContext<Page | null>(null);

export function usePage(): Page {
  const page = useContext(PageContext);
  if (page === null) throw new Error('a part of the page stands outside of it');
  return page;
}
