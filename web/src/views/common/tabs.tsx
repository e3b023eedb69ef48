// One tab for each workload of a page that holds several.

import { useRef } from 'preact/hooks';
import type { JSX } from 'preact';

import { workloadTitle } from '../../labels.ts';
import { usePage } from '../../page.ts';
import { tabChoice } from '../../state.ts';

/** Element id of the panel of all tabs; only the open one is drawn. */
export const PANEL = 'panel';

/** Element id of a tab, valid for any workload name. */
export function tabId(workload: string): string {
  return `tab-${encodeURIComponent(workload)}`;
}

/** Steps of the arrow keys; Home and End lead to the first and the last tab. */
const STEPS: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

export function Tabs({ workloads }: { workloads: readonly string[] }): JSX.Element | null {
  const { figures, view, change } = usePage();
  const list = useRef<HTMLDivElement>(null);
  if (workloads.length < 2) return null;
  const open = (workload: string): void => {
    if (workload !== view.workload) change(tabChoice(figures, view.runIndex, workload));
  };
  /** Opens the tab that a key leads to; returns `false` for other keys. */
  const move = (key: string): boolean => {
    const from = workloads.indexOf(view.workload);
    const step = STEPS[key];
    const to = key === 'Home' ? 0 : key === 'End' ? workloads.length - 1 : step === undefined ? null : (from + step + workloads.length) % workloads.length;
    const next = to === null ? undefined : workloads[to];
    if (next === undefined) return false;
    open(next);
    list.current?.querySelectorAll('button')[workloads.indexOf(next)]?.focus();
    return true;
  };
  return (
    <div ref={list} class="tabs" role="tablist" aria-label="Workloads" onKeyDown={(event) => { if (move(event.key)) event.preventDefault(); }}>
      {workloads.map((workload) => {
        const isOpen = workload === view.workload;
        return (
          <button key={workload} type="button" role="tab" id={tabId(workload)} aria-selected={isOpen} aria-controls={PANEL} tabIndex={isOpen ? 0 : -1} onClick={() => open(workload)}>
            {workloadTitle(workload)}
          </button>
        );
      })}
    </div>
  );
}
