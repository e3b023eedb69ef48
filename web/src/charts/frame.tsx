// A chart on the page: a placeholder of about the final height, drawn when the reader comes near, with its
// exports.

import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ComponentChildren, JSX } from 'preact';

import type { FigureData } from '../export/csv.ts';
import type { FigureFormat } from '../export/figure.ts';
import { downloadFigure } from '../export/figure.ts';
import { usePage } from '../page.ts';
import { cancelIdle, markFirstPaint, observeVisibility, whenIdle } from './lazy.ts';

interface Props {
  title: string;
  /** Height in pixels before the chart is drawn; it may turn out higher. */
  height: number;
  draw: (width: number) => Element;
  /** Data of the chart for its CSV; without it, there is none. */
  data?: () => FigureData;
  /** Elements below the chart. */
  children?: ComponentChildren;
  wide?: boolean;
  /** Whether the chart is drawn together with the page instead of when it becomes visible. */
  eager?: boolean;
}

interface Drawn {
  draw: Props['draw'] | null;
  width: number;
  seen: boolean;
}

/** Buttons that export a figure as a file. */
function Exports({ title, svg, data }: { title: string; svg: () => SVGElement | null; data: Props['data'] }): JSX.Element {
  const { view } = usePage();
  const [told, tell] = useState('');
  const formats: FigureFormat[] = ['SVG', 'PNG', ...(data === undefined ? [] : ['CSV' as const])];
  const start = (format: FigureFormat): void => {
    tell('');
    downloadFigure(format, { title, run: view.run }, svg(), data?.() ?? null)
      .catch((error: unknown) => tell(`no ${format}: ${error instanceof Error ? error.message : String(error)}`));
  };
  return (
    <span class="exports">
      {formats.map((format) => (
        <button key={format} type="button" class="quiet export" aria-label={`${format} of ${title}`} onClick={() => start(format)}>{format}</button>
      ))}
      <span class="told" role="status">{told}</span>
    </span>
  );
}

export function ChartFrame({ title, height, draw, data, children, wide = false, eager = false }: Props): JSX.Element {
  const place = useRef<HTMLDivElement>(null);
  const drawn = useRef<Drawn>({ draw: null, width: 0, seen: false });
  const latest = useRef(draw);
  latest.current = draw;

  const now = useRef(() => {
    const element = place.current;
    if (element === null) return;
    const width = Math.floor(drawn.current.width || element.clientWidth);
    if (width === 0 || drawn.current.draw === latest.current) return;
    drawn.current.width = width;
    drawn.current.draw = latest.current;
    const focused = [...element.querySelectorAll('[tabindex]')].indexOf(document.activeElement ?? element);
    element.replaceChildren(latest.current(width));
    element.querySelectorAll<SVGElement>('[tabindex]')[focused]?.focus();
    markFirstPaint();
  }).current;

  // A layout effect, so that the chart is registered before the first paint and immediate printing includes
  // it.
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const end = observeVisibility(
      element,
      (isSeen) => {
        drawn.current.seen = isSeen;
        if (isSeen) now();
      },
      () => whenIdle(drawn, now),
      now,
    );
    const sizes = new ResizeObserver(() => {
      const width = Math.floor(element.clientWidth);
      if (width === 0 || width === drawn.current.width) return;
      drawn.current.width = width;
      const before = drawn.current.draw;
      drawn.current.draw = null;
      if (drawn.current.seen) now();
      else if (before !== null) whenIdle(drawn, now);
    });
    sizes.observe(element);
    return () => {
      end();
      sizes.disconnect();
      cancelIdle(drawn);
    };
  }, [now]);

  useLayoutEffect(() => {
    if (eager || drawn.current.seen) now();
    else if (drawn.current.draw !== null) whenIdle(drawn, now);
  }, [draw, now, eager]);

  return (
    <figure class={wide ? 'chart wide' : 'chart'}>
      <figcaption>
        <span class="chart-title">{title}</span>
        <Exports title={title} data={data} svg={() => { now(); return place.current?.querySelector('svg') ?? null; }} />
      </figcaption>
      <div ref={place} class="drawing" style={{ minHeight: `${height}px` }} />
      {children}
    </figure>
  );
}
