// Buttons over the values of a chart that open the details, by mouse and by keyboard.

const SVG = 'http://www.w3.org/2000/svg';

export interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Adds a transparent button over an area of a chart. */
export function overlayButton(svg: SVGElement, area: Area, label: string, open: () => void): void {
  const group = document.createElementNS(SVG, 'g');
  group.setAttribute('role', 'button');
  group.setAttribute('tabindex', '-1');
  group.setAttribute('aria-label', label);
  group.setAttribute('class', 'figure-button');
  const rect = document.createElementNS(SVG, 'rect');
  for (const [name, value] of Object.entries(area)) rect.setAttribute(name, String(value));
  rect.setAttribute('fill', 'transparent');
  const title = document.createElementNS(SVG, 'title');
  title.textContent = label;
  group.append(rect, title);
  group.addEventListener('click', open);
  group.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      open();
    }
  });
  svg.append(group);
}

const STEPS: Record<string, number> = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 };

/** Makes the chart a single tab stop; arrow keys, Home and End move between its buttons. */
export function rovingTabIndex(svg: SVGElement): void {
  const buttons = [...svg.querySelectorAll<SVGGElement>('g.figure-button')];
  buttons[0]?.setAttribute('tabindex', '0');
  svg.addEventListener('keydown', (event) => {
    const from = buttons.findIndex((one) => one === document.activeElement);
    const step = STEPS[event.key];
    const to = event.key === 'Home' ? 0 : event.key === 'End' ? buttons.length - 1 : step === undefined ? null : from + step;
    const target = to === null || from < 0 ? undefined : buttons[to];
    if (target === undefined) return;
    event.preventDefault();
    buttons[from]?.setAttribute('tabindex', '-1');
    target.setAttribute('tabindex', '0');
    target.focus();
  });
}
