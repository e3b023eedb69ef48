// When charts are drawn: at once when the reader sees them, in idle time when they are near, and all for print.

const NEAR = '700px 0px';

interface Watched {
  seen: (isSeen: boolean) => void;
  near: () => void;
}

const watched = new WeakMap<Element, Watched>();
const all = new Set<() => void>();

const seenBy = new IntersectionObserver((entries) => {
  for (const entry of entries) watched.get(entry.target)?.seen(entry.isIntersecting);
});
const nearBy = new IntersectionObserver((entries) => {
  for (const entry of entries) if (entry.isIntersecting) watched.get(entry.target)?.near();
}, { rootMargin: NEAR });

/** Tells when an element is seen, and when it is near; for print, `now` is called. Returns how to end that. */
export function watch(element: Element, seen: (isSeen: boolean) => void, near: () => void, now: () => void): () => void {
  watched.set(element, { seen, near });
  all.add(now);
  seenBy.observe(element);
  nearBy.observe(element);
  return () => {
    seenBy.unobserve(element);
    nearBy.unobserve(element);
    all.delete(now);
  };
}

/** Draws what has not been drawn, wherever it stands, and what comes to be by that. */
export function drawAll(): void {
  const done = new Set<() => void>();
  for (let more = true; more;) {
    more = false;
    for (const now of [...all]) {
      if (done.has(now)) continue;
      done.add(now);
      now();
      more = true;
    }
  }
}

/** Draws one element that is watched, before the reader has come to it. */
export function drawNear(element: Element): void {
  watched.get(element)?.near();
}

const waiting = new Map<object, () => void>();
let asked = false;

function next(): void {
  asked = false;
  const [first] = waiting;
  if (first === undefined) return;
  waiting.delete(first[0]);
  first[1]();
  ask();
}

function ask(): void {
  if (asked || waiting.size === 0) return;
  asked = true;
  if (typeof requestIdleCallback === 'function') requestIdleCallback(next, { timeout: 500 });
  else setTimeout(next, 30);
}

/** Does something when there is time, one thing a slice; a later task of the same owner takes its place. */
export function whenIdle(owner: object, task: () => void): void {
  waiting.set(owner, task);
  ask();
}

/** Takes a task back. */
export function forget(owner: object): void {
  waiting.delete(owner);
}

let first = true;

/** Marks the moment at which the first chart is on the screen, for who measures the page. */
export function firstChart(): void {
  if (!first) return;
  first = false;
  requestAnimationFrame(() => requestAnimationFrame(() => performance.mark('first-chart')));
}
