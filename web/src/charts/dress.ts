// What a chart is to those who do not see it: an image with a description, or a group of figures to open. What Plot
// draws is then hidden from them; every figure is said by its button, and all stand in the table.

/** Gives a chart its role and name. Buttons are laid over it afterwards. */
export function dress(svg: SVGElement, role: 'img' | 'group', describe: string): void {
  for (const one of svg.querySelectorAll('[aria-label]')) one.removeAttribute('aria-label');
  for (const one of svg.children) one.setAttribute('aria-hidden', 'true');
  svg.setAttribute('role', role);
  svg.setAttribute('aria-label', describe);
}
