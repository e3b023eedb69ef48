// Accessibility of charts: ARIA role and description. A chart is an image with a description, or a group of
// buttons. The drawing itself is hidden from screen readers; every value is read by its button and listed in
// the table.

/** Sets the role and name of a chart and hides its drawing. Must be called before buttons are added. */
export function applyAria(svg: SVGElement, role: 'img' | 'group', describe: string): void {
  for (const one of svg.querySelectorAll('[aria-label]')) one.removeAttribute('aria-label');
  for (const one of svg.children) one.setAttribute('aria-hidden', 'true');
  svg.setAttribute('role', role);
  svg.setAttribute('aria-label', describe);
}
