// Context shared by all parts of the page.

import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

import type { Evidence, PageData } from './model.ts';
import type { State } from './state.ts';
import type { Entry, View } from './view.ts';

export interface Page {
  figures: PageData;
  /** Details behind the results; null until they are unpacked. */
  evidence: Evidence | null;
  view: View;
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
