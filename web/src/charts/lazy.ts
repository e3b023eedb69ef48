// Decides when charts are drawn: immediately when visible, when idle if near the viewport, and all of them
// for printing.

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

/**
 * Calls `seen` when an element enters or leaves the viewport, and `near` when it comes near. `now` is called
 * for printing. Returns a function that ends the watch.
 */
export function observeVisibility(element: Element, seen: (isSeen: boolean) => void, near: () => void, now: () => void): () => void {
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

/** Draws everything not drawn yet, including elements that appear as a result. */
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

/** Draws a watched element before the reader reaches it. */
export function drawNearby(element: Element): void {
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

/**
 * Runs a task when the browser is idle, one task per idle slice. A later task of the same owner replaces an
 * earlier one.
 */
export function whenIdle(owner: object, task: () => void): void {
  waiting.set(owner, task);
  ask();
}

/** Cancels the pending task of an owner. */
export function cancelIdle(owner: object): void {
  waiting.delete(owner);
}

let first = true;

/** Sets the performance mark `first-chart` once the first chart has been painted. */
export function markFirstPaint(): void {
  if (!first) return;
  first = false;
  requestAnimationFrame(() => requestAnimationFrame(() => performance.mark('first-chart')));
}
