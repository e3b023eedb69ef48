// Deferred rendering: re-renders immediately when visible, otherwise when the browser is idle. A filter
// change therefore costs only what is on the screen.

import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { ComponentType } from 'preact';
import type { JSX } from 'preact';

import type { Page } from '../../page.ts';
import { cancelIdle, observeVisibility, whenIdle } from '../../charts/lazy.ts';
import { PageContext, usePage } from '../../page.ts';

interface Props {
  /** Element id of the placeholder, which exists before the part is drawn. */
  id: string;
  component: ComponentType;
}

export function Deferred({ id, component: Part }: Props): JSX.Element {
  const page = usePage();
  const [shown, setShown] = useState<Page | null>(null);
  const place = useRef<HTMLDivElement>(null);
  const seen = useRef(false);
  const latest = useRef(page);
  latest.current = page;
  const part = useMemo(() => <Part />, [Part]);
  const value = seen.current ? page : shown;

  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return undefined;
    const now = (): void => setShown(latest.current);
    const end = observeVisibility(element, (isSeen) => {
      seen.current = isSeen;
      if (isSeen) now();
    }, now, now);
    return () => {
      end();
      cancelIdle(place);
    };
  }, []);
  useLayoutEffect(() => {
    if (shown === page) return;
    if (seen.current) setShown(page);
    else whenIdle(place, () => setShown(latest.current));
  }, [page]);

  return (
    <div ref={place} id={id} tabIndex={-1} class={value === null ? 'later waiting' : 'later'}>
      {value !== null && <PageContext.Provider value={value}>{part}</PageContext.Provider>}
    </div>
  );
}
