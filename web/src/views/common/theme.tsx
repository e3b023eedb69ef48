// Colour theme: light, dark, or as the operating system has it.

import { useState } from 'preact/hooks';
import type { JSX } from 'preact';

const THEMES = ['auto', 'light', 'dark'] as const;
type ThemeName = (typeof THEMES)[number];
const KEY = 'jsonathlon-theme';

/** The theme chosen earlier. Pages opened from a file may have no access to local storage. */
function remembered(): ThemeName {
  try {
    return THEMES.find((one) => one === localStorage.getItem(KEY)) ?? 'auto';
  } catch {
    return 'auto';
  }
}

function put(theme: ThemeName): void {
  document.documentElement.dataset.theme = theme;
}

/** Applies the theme before the first render. */
export function startTheme(): void {
  put(remembered());
}

export function Theme(): JSX.Element {
  const [theme, setTheme] = useState(remembered);
  const change = (to: string): void => {
    const next = THEMES.find((one) => one === to) ?? 'auto';
    put(next);
    setTheme(next);
    try {
      localStorage.setItem(KEY, next);
    } catch {
      // Without storage the choice lasts as long as the page.
    }
  };
  return (
    <label class="theme"><span class="hidden">Colours</span>
      <select name="theme" value={theme} onChange={(event) => change(event.currentTarget.value)}>
        {THEMES.map((one) => <option value={one}>{one}</option>)}
      </select>
    </label>
  );
}
