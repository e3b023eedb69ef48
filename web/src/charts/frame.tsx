// A chart on the page: a placeholder of the final height, drawn when the reader comes near, with its SVG
// export.

import { useLayoutEffect, useRef } from 'preact/hooks';
import type { ComponentChildren, JSX } from 'preact';

import { downloadSvg } from '../export/svg.ts';
import { cancelIdle, markFirstPaint, observeVisibility, whenIdle } from './lazy.ts';

interface Props {
  title: string;
  /** Height in pixels before the chart is drawn. */
  height: number;
  draw: (width: number) => Element;
  /** Elements next to the SVG button. */
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

export function ChartFrame({ title, height, draw, children, wide = false, eager = false }: Props): JSX.Element {
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
        <button type="button" class="quiet export" aria-label={`SVG of ${title}`}
          onClick={() => { now(); downloadSvg(place.current?.querySelector('svg') ?? null, title); }}>SVG</button>
      </figcaption>
      <div ref={place} class="drawing" style={{ minHeight: `${height}px` }} />
      {children}
    </figure>
  );
}
