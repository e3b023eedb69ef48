// Entry point of the page: renders the figures first and unpacks the evidence when the browser is idle.

import { render } from 'preact';

import { whenIdle } from './charts/lazy.ts';
import type { Evidence } from './model.ts';
import { registerQuestions } from './labels.ts';
import { unpackEvidence, unpackPageData } from './unpack.ts';
import { App } from './views/app.tsx';
import { startTheme } from './views/common/theme.tsx';

function showError(place: Element, error: unknown): void {
  const words = document.createElement('p');
  words.className = 'empty';
  words.textContent = `This page cannot be shown: ${error instanceof Error ? error.message : String(error)}`;
  place.replaceChildren(words);
}

async function start(place: Element): Promise<void> {
  const figures = await unpackPageData();
  registerQuestions(figures);
  place.replaceChildren();
  const draw = (evidence: Evidence | null): void => render(<App figures={figures} evidence={evidence} />, place);
  draw(null);
  whenIdle(place, () => {
    unpackEvidence().then(draw).catch((error: unknown) => {
      const words = document.createElement('p');
      words.className = 'empty';
      words.setAttribute('role', 'alert');
      words.textContent = `Trials cannot be read: ${error instanceof Error ? error.message : String(error)}`;
      place.prepend(words);
    });
  });
}

const place = document.getElementById('page');
if (place !== null) {
  startTheme();
  start(place).catch((error: unknown) => showError(place, error));
}
