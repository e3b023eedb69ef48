// Assigns each system its colour, the same on every page. Systems share colours if there are more systems
// than colours; therefore every bar also carries its name.

const KNOWN: readonly string[] = [
  'clickhouse', 'postgresql', 'elasticsearch', 'mongodb', 'duckdb', 'mysql', 'mariadb', 'dolt', 'sqlite',
];

/** Number of colours in the style sheet, `--colour-0` to `--colour-9`. */
const COLOURS = 10;

/** The colour of a system, given its folder name or its published name. */
export function colourOf(system: string): string {
  const name = system.toLowerCase();
  const known = KNOWN.indexOf(name);
  if (known >= 0) return `var(--colour-${known})`;
  let hash = 0;
  for (let index = 0; index < name.length; index += 1) hash = (hash * 31 + name.charCodeAt(index)) >>> 0;
  return `var(--colour-${hash % COLOURS})`;
}
