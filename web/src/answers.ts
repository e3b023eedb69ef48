// Display text for the answers to users' own questions.

import type { Agreement, AnswerValue } from './model.ts';

/** A row of an answer, one value per column. */
export type Row = readonly AnswerValue[];

/** Formats a row as `[a, b]`; numbers that JSON cannot express are written by name, such as `Infinity`. */
export function shown(row: Row): string {
  const cells = row.map((cell) => typeof cell === 'object' && cell !== null ? cell.float : JSON.stringify(cell));
  return `[${cells.join(', ')}]`;
}

/** Returns `true` if the complete answer is known and has no rows, or only nulls and zeros. */
export function isEmpty({ first }: Pick<Agreement, 'first'>): boolean {
  return first !== undefined && first.count === first.rows.length && first.rows.flat().every((cell) => cell === null || cell === 0);
}
