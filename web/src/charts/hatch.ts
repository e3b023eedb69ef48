// Hatched fills for values with caveats, distinguishable without colour.

const SVG = 'http://www.w3.org/2000/svg';
let made = 0;

export interface Hatches {
  /** Returns the fill of a colour: dense for `hatched`, sparse for `muted`. */
  of: (colour: string, look: 'hatched' | 'muted') => string;
  /** Adds all requested patterns to the chart. */
  into: (svg: SVGElement) => void;
}

/** Creates the hatched fills of one chart. */
export function hatches(): Hatches {
  const patterns = new Map<string, SVGPatternElement>();
  return {
    of(colour, look) {
      const key = `${look} ${colour}`;
      let pattern = patterns.get(key);
      if (pattern === undefined) {
        pattern = document.createElementNS(SVG, 'pattern');
        made += 1;
        const space = look === 'hatched' ? 5 : 9;
        pattern.id = `hatch-${made}`;
        for (const [name, value] of Object.entries({
          width: String(space), height: String(space), patternUnits: 'userSpaceOnUse',
          patternTransform: `rotate(${look === 'hatched' ? 45 : -45})`,
        })) pattern.setAttribute(name, value);
        const paper = document.createElementNS(SVG, 'rect');
        paper.setAttribute('width', String(space));
        paper.setAttribute('height', String(space));
        paper.setAttribute('fill', 'var(--paper)');
        const line = document.createElementNS(SVG, 'rect');
        line.setAttribute('width', look === 'hatched' ? '2.5' : '1.5');
        line.setAttribute('height', String(space));
        line.setAttribute('fill', colour);
        pattern.append(paper, line);
        patterns.set(key, pattern);
      }
      return `url(#${pattern.id})`;
    },
    into(svg) {
      if (patterns.size === 0) return;
      const defs = document.createElementNS(SVG, 'defs');
      defs.append(...patterns.values());
      svg.prepend(defs);
    },
  };
}
