// Answers to users' own questions as people read them.

import type { Agreement, Row } from './model.ts';

/** A row as people read it. */
export function shown(row: Row): string {
  const cells = row.map((cell) => typeof cell === 'object' && cell !== null ? cell.float : JSON.stringify(cell));
  return `[${cells.join(', ')}]`;
}

/** Whether an answer says nothing: it has no rows, or nothing but nulls and zeros. */
export function isEmpty({ first }: Pick<Agreement, 'first'>): boolean {
  return first !== undefined && first.count === first.rows.length && first.rows.flat().every((cell) => cell === null || cell === 0);
}
