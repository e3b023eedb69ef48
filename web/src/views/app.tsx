// The page: its state comes from the URL, its parts are shown in fixed order.

import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { options } from 'preact';
import type { JSX } from 'preact';

import type { Evidence, PageData } from '../model.ts';
import type { State } from '../state.ts';
import type { PageSection, WorkloadSections } from './common/sections.ts';
import { drawAll, drawNearby } from '../charts/lazy.ts';
import { PageContext } from '../page.ts';
import { fromFragment, toFragment } from '../state.ts';
import { buildView } from '../view.ts';
import { ANALYTICS_PARTS } from './analytics/parts.ts';
import { PublishedResults } from './analytics/published.tsx';
import { CellDialog } from './common/cell-dialog.tsx';
import { Configurations } from './common/configuration.tsx';
import { Deferred } from './common/deferred.tsx';
import { Filters } from './common/filters.tsx';
import { Header } from './common/header.tsx';
import { OtherCells } from './common/other-cells.tsx';
import { Runs } from './common/runs.tsx';
import { RunSeries } from './common/series.tsx';
import { Theme } from './common/theme.tsx';
import { DOCUMENTS_PARTS } from './documents/parts.ts';
import { DURABILITY_PARTS } from './durability/parts.ts';
import { FIDELITY_PARTS } from './fidelity/parts.ts';
import { QUESTIONS_PARTS } from './questions/parts.ts';
import { SERVING_PARTS } from './serving/parts.ts';

/** Workloads that have parts of their own, in page order. */
const WORKLOADS: readonly WorkloadSections[] = [ANALYTICS_PARTS, SERVING_PARTS, DOCUMENTS_PARTS, QUESTIONS_PARTS, FIDELITY_PARTS, DURABILITY_PARTS];

function Others(): JSX.Element {
  return <OtherCells isShown={(entry) => WORKLOADS.some((one) => one.name === entry.cell.workload && one.shows(entry))} />;
}

/**
 * Workloads with at least one cell. A page without any cell shows analytics, whose parts then say that they
 * are empty.
 */
function workloadsOf(figures: PageData): readonly WorkloadSections[] {
  const there = new Set(figures.runs.flatMap((run) => run.cells.map((cell) => cell.workload)));
  return there.size === 0 ? [ANALYTICS_PARTS] : WORKLOADS.filter((one) => there.has(one.name));
}

/** The parts of a page: those of its workloads, then those common to all pages. */
function partsOf(figures: PageData): PageSection[] {
  const workloads = workloadsOf(figures);
  return [
    ...workloads.flatMap((one) => one.parts),
    { id: 'others', title: null, component: Others }, { id: 'configurations', title: 'Configurations', component: Configurations }, { id: 'series', title: 'Series', component: RunSeries },
    { id: 'runs', title: figures.runs.length > 1 ? 'Runs' : null, component: Runs },
    ...(workloads.includes(ANALYTICS_PARTS) ? [{ id: 'published', title: figures.published.length > 0 ? 'Published' : null, component: PublishedResults }] : []),
  ];
}

/** Element id of the place of a part; it exists before the part is drawn. */
function placeOf(id: string): string {
  return `at-${id}`;
}

/** Animation frames during which the scroll position is corrected after a jump. */
const FRAMES = 12;

/** Scrolls to a place repeatedly, because parts above it change their height when they are drawn. */
function keptInView(place: Element, frames: number): void {
  place.scrollIntoView({ behavior: 'instant' });
  if (frames > 0) requestAnimationFrame(() => keptInView(place, frames - 1));
}

/** Scrolls to a part and moves the keyboard focus to its heading. */
function go(id: string): void {
  const place = document.getElementById(placeOf(id));
  if (place === null) return;
  drawNearby(place);
  place.focus({ preventScroll: true });
  keptInView(place, FRAMES);
  requestAnimationFrame(() => place.querySelector('h2')?.focus({ preventScroll: true }));
}

function Contents({ parts }: { parts: readonly PageSection[] }): JSX.Element {
  // The URL fragment holds the reader's choice, so these cannot be plain links.
  return (
    <nav aria-label="Parts of the page">
      {parts.map(({ id, title }) => title !== null && <button key={id} type="button" class="quiet" onClick={() => go(id)}>{title}</button>)}
    </nav>
  );
}

/** Maximum number of performance measures kept, so that they do not accumulate while the page is open. */
const MEASURED = 50;

/** Measures the time from a user action to the frame that shows its effect. */
function measured(from: number): void {
  requestAnimationFrame(() => setTimeout(() => {
    performance.measure('filter', { start: from, end: performance.now() });
    const all = performance.getEntriesByName('filter');
    if (all.length < 2 * MEASURED) return;
    performance.clearMeasures('filter');
    for (const one of all.slice(-MEASURED)) performance.measure('filter', { start: one.startTime, duration: one.duration });
  }, 0));
}

function useAddress(figures: PageData): [State, (to: Partial<State>) => void] {
  const [state, setState] = useState(() => fromFragment(location.hash, figures));
  const current = useRef(state);
  current.current = state;
  const started = useRef<number | null>(null);
  useEffect(() => {
    const moved = (): void => {
      const next = fromFragment(location.hash, figures);
      if (toFragment(next, figures) !== toFragment(current.current, figures)) setState(next);
    };
    addEventListener('popstate', moved);
    addEventListener('hashchange', moved);
    return () => {
      removeEventListener('popstate', moved);
      removeEventListener('hashchange', moved);
    };
  }, [figures]);
  useLayoutEffect(() => {
    if (started.current !== null) measured(started.current);
    started.current = null;
  }, [state]);
  const change = useCallback((to: Partial<State>) => {
    started.current = performance.now();
    const next = { ...current.current, ...to };
    current.current = next;
    setState(next);
    const fragment = toFragment(next, figures);
    if (fragment !== location.hash.slice(1)) history.pushState(null, '', `#${fragment}`);
  }, [figures]);
  return [state, change];
}

/** Draws everything before printing, including parts not visible yet. */
function usePrinting(): void {
  useLayoutEffect(() => {
    const print = (): void => {
      const before = options.debounceRendering;
      options.debounceRendering = (render) => render();
      drawAll();
      if (before === undefined) delete options.debounceRendering;
      else options.debounceRendering = before;
    };
    addEventListener('beforeprint', print);
    return () => removeEventListener('beforeprint', print);
  }, []);
}

export function App({ figures, evidence }: { figures: PageData; evidence: Evidence | null }): JSX.Element {
  const [state, change] = useAddress(figures);
  usePrinting();
  const { opened, ...choice } = state;
  // Opening a cell does not change what is shown, so charts are not drawn again.
  const key = Object.values(choice);
  const view = useMemo(() => buildView(figures, state), [figures, ...key]);
  const open = useCallback((entry: { run: number; index: number }) => change({ opened: { run: entry.run, cell: entry.index } }), [change]);
  const page = useMemo(() => (view === null ? null : { figures, evidence, view, change, open }), [figures, evidence, view, change, open]);
  const parts = useMemo(() => partsOf(figures), [figures]);
  const dialog = useMemo(() => (page === null ? null : { ...page, view: { ...page.view, state } }), [page, opened]);
  if (page === null || dialog === null) return <p class="empty">This page holds no run.</p>;
  return (
    <>
      <PageContext.Provider value={page}>
        <header class="bar"><span class="brand">jsonathlon</span><Contents parts={parts} /><Theme /></header>
        <main>
          <Header>{workloadsOf(figures).map((one) => <one.findings key={one.name} />)}</Header>
          <Filters />
          {parts.map((part) => <Deferred key={part.id} id={placeOf(part.id)} component={part.component} />)}
        </main>
      </PageContext.Provider>
      <PageContext.Provider value={dialog}><CellDialog /></PageContext.Provider>
    </>
  );
}
