// Which colour a system has: always the same one, on every page. Names stand at every bar, because with more
// systems than colours some share one.

const KNOWN: Record<string, number> = {
  clickhouse: 0, postgresql: 1, elasticsearch: 2, mongodb: 3, duckdb: 4, mysql: 5, mariadb: 6, dolt: 7, sqlite: 8,
};

/** Colours of the style sheet, `--colour-0` and so on. */
const COLOURS = 10;

/** The colour of a system, by the name of its folder or a published one. */
export function colourOf(system: string): string {
  const name = system.toLowerCase();
  const known = KNOWN[name];
  if (known !== undefined) return `var(--colour-${known})`;
  let hash = 0;
  for (let index = 0; index < name.length; index += 1) hash = (hash * 31 + name.charCodeAt(index)) >>> 0;
  return `var(--colour-${hash % COLOURS})`;
}
