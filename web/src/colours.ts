// Which colour a system has: always the same one, on every page. Names stand at every bar, because with more
// systems than colours some share one.

const KNOWN: readonly string[] = [
  'clickhouse', 'postgresql', 'elasticsearch', 'mongodb', 'duckdb', 'mysql', 'mariadb', 'dolt', 'sqlite',
];

/** Colours of the style sheet, `--colour-0` and so on. */
const COLOURS = 10;

/** The colour of a system, by the name of its folder or a published one. */
export function colourOf(system: string): string {
  const name = system.toLowerCase();
  const known = KNOWN.indexOf(name);
  if (known >= 0) return `var(--colour-${known})`;
  let hash = 0;
  for (let index = 0; index < name.length; index += 1) hash = (hash * 31 + name.charCodeAt(index)) >>> 0;
  return `var(--colour-${hash % COLOURS})`;
}
