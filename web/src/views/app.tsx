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
import { buildView, hasWorkload, workloadsOf } from '../view.ts';
import { ANALYTICS_PARTS } from './analytics/parts.ts';
import { PublishedResults } from './analytics/published.tsx';
import { figureId, placeId } from './common/anchor.tsx';
import { CellDialog } from './common/cell-dialog.tsx';
import { Configurations } from './common/configuration.tsx';
import { Deferred } from './common/deferred.tsx';
import { Filters } from './common/filters.tsx';
import { Findings } from './common/findings.tsx';
import { Header, RunFacts } from './common/header.tsx';
import { OtherCells } from './common/other-cells.tsx';
import { Overview, OVERVIEW } from './common/overview.tsx';
import { Runs } from './common/runs.tsx';
import { RunSeries } from './common/series.tsx';
import { PANEL, tabId, Tabs } from './common/tabs.tsx';
import { Glossary } from './common/term.tsx';
import { Theme } from './common/theme.tsx';
import { DOCUMENTS_PARTS } from './documents/parts.ts';
import { DURABILITY_PARTS } from './durability/parts.ts';
import { FIDELITY_PARTS } from './fidelity/parts.ts';
import { MIXED_PARTS } from './mixed/parts.ts';
import { QUESTIONS_PARTS } from './questions/parts.ts';
import { SERVING_PARTS } from './serving/parts.ts';

/** Workloads that have parts of their own, in page order. */
const WORKLOADS: readonly WorkloadSections[] = [ANALYTICS_PARTS, SERVING_PARTS, MIXED_PARTS, DOCUMENTS_PARTS, QUESTIONS_PARTS, FIDELITY_PARTS, DURABILITY_PARTS];

function Others(): JSX.Element {
  return <OtherCells isShown={(entry) => WORKLOADS.some((one) => one.name === entry.cell.workload && one.shows(entry))} />;
}

/** Returns a component that lists the terms of these workloads. */
function glossaryOf(workloads: readonly string[]): () => JSX.Element {
  return () => <Glossary workloads={workloads} />;
}

/** Returns a component with the answers of a workload and its own remarks. */
function findingsOf(sections: WorkloadSections | undefined): () => JSX.Element {
  return () => <Findings remarks={sections?.findings ?? null} />;
}

/** The parts of a tab: its first table, those of its workload, then those common to all workloads. */
function partsOf(figures: PageData, workload: string): PageSection[] {
  const sections = WORKLOADS.find((one) => one.name === workload);
  const runs = figures.runs.filter((run) => hasWorkload(run, workload));
  const hasPublished = workload === ANALYTICS_PARTS.name && figures.published.length > 0;
  return [
    ...(sections === undefined ? [] : [{ id: OVERVIEW, title: null, component: Overview }]),
    { id: 'findings', title: 'Findings', component: findingsOf(sections) },
    ...(sections?.parts ?? []),
    { id: 'others', title: null, component: Others }, { id: 'run', title: 'The run', component: RunFacts }, { id: 'configurations', title: 'Configurations', component: Configurations },
    { id: 'series', title: 'Series', component: RunSeries },
    ...(runs.length > 1 ? [{ id: 'runs', title: 'Runs', component: Runs }] : []),
    ...(hasPublished ? [{ id: 'published', title: 'Published', component: PublishedResults }] : []),
    { id: 'glossary', title: 'Glossary', component: glossaryOf(workloadsOf(figures.runs)) },
  ];
}

/** Animation frames during which the scroll position is corrected after a jump. */
const FRAMES = 12;

/**
 * Scrolls to a place repeatedly, because parts above it change their height when they are drawn, and a figure may
 * not be there yet.
 */
function keptInView(place: () => Element, frames: number): void {
  place().scrollIntoView({ behavior: 'instant' });
  if (frames > 0) requestAnimationFrame(() => keptInView(place, frames - 1));
}

/** Scrolls to a part, or to a figure in it, and moves the keyboard focus there. */
function go(at: string): void {
  const [part = ''] = at.split(':');
  const place = document.getElementById(placeId(part));
  if (place === null) return;
  drawNearby(place);
  place.focus({ preventScroll: true });
  keptInView(() => document.getElementById(figureId(at)) ?? place, FRAMES);
  requestAnimationFrame(() => {
    const target = document.getElementById(figureId(at)) ?? place.querySelector<HTMLElement>('h2');
    target?.focus({ preventScroll: true });
  });
}

/** Leads to the place that the address names, at the start and when the address changes. */
function useLinks(at: string): void {
  useEffect(() => {
    if (at !== '') go(at);
  }, [at]);
}

function Contents({ parts }: { parts: readonly PageSection[] }): JSX.Element {
  // Buttons, so that the address keeps the reader's choice; the headings have links.
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
  const { opened, at, ...choice } = state;
  useLinks(at);
  // Opening a cell or following a link does not change what is shown, so charts are not drawn again.
  const key = Object.values(choice);
  const view = useMemo(() => buildView(figures, state), [figures, ...key]);
  const open = useCallback((entry: { run: number; index: number }) => change({ opened: { run: entry.run, cell: entry.index } }), [change]);
  const page = useMemo(() => (view === null ? null : { figures, evidence, view, change, open }), [figures, evidence, view, change, open]);
  const workloads = useMemo(() => workloadsOf(figures.runs), [figures]);
  const parts = useMemo(() => partsOf(figures, state.workload), [figures, state.workload]);
  const dialog = useMemo(() => (page === null ? null : { ...page, view: { ...page.view, state } }), [page, opened]);
  if (page === null || dialog === null) return <p class="empty">This page holds no run.</p>;
  const panel = parts.map((part) => <Deferred key={`${state.workload} ${part.id}`} id={placeId(part.id)} component={part.component} />);
  return (
    <>
      <PageContext.Provider value={page}>
        <header class="bar"><span class="brand">jsonathlon</span><Contents parts={parts} /><Theme /></header>
        <main>
          <Header />
          <Tabs workloads={workloads} />
          <Filters />
          {workloads.length > 1 ? <div id={PANEL} role="tabpanel" aria-labelledby={tabId(state.workload)} tabIndex={0}>{panel}</div> : panel}
        </main>
      </PageContext.Provider>
      <PageContext.Provider value={dialog}><CellDialog /></PageContext.Provider>
    </>
  );
}
