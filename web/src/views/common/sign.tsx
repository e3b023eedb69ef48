// Signs of severity, which do not depend on colour.

import type { JSX } from 'preact';

import type { Severity } from '../../model.ts';

/** The sign of a failure or a warning; nothing for what is good. */
export function Sign({ of }: { of: Severity | null | undefined }): JSX.Element | null {
  if (of === 'failed') return <span class="sign" role="img" aria-label="failed">✖ </span>;
  return of === 'warning' ? <span class="sign" role="img" aria-label="with care">⚠ </span> : null;
}
