// The sample page of a mixed run.

import { answersOf, configuration, HOSTILE, numbers, pack, runOf, SCRIPT } from './data.mjs';

const AS_IS = { preparation: 'as-is', ranking: 'as-is' };
const QUESTIONS = ['q1', 'q2', 'q3', 'q4', 'q5'];

/** Questions per second of each phase, of the systems of a mixed run: still, both, left, drained. */
const ASKS = [
  ['postgresql', 'PostgreSQL', [80, 40, 44, 46], 1, [0, 0, 0]], ['clickhouse', 'ClickHouse', [120, 50, 49, 69], 0.6, [0, 0, 0]],
  ['elasticsearch', 'Elasticsearch', [43, 23, 39, 40], 1, [650, 1327, 1695]], ['mock', HOSTILE, [50, 25, 30, 30], 1, [0, 0, 0]],
];

/** A mixed run: one system did not keep the rate, one shows documents late and at no single moment, and one gave a wrong answer. */
export function mixed() {
  const random = numbers(9);
  const rounds = 3;
  const configurations = ASKS.map(([system, title]) => configuration(system, title, { variant: 'generated', ...AS_IS }));
  const [cells, evidence] = [[], []];
  const put = (index, step, phase, metrics, more = {}) => {
    const verdict = more.verdict ?? 'exact';
    const isWrong = verdict === 'wrong';
    const column = (of) => Array.from({ length: rounds }, (_, round) => of(round));
    const shown = isWrong ? {} : metrics;
    const near = (value) => [value * 0.95, value * 1.05];
    const phased = !['load', 'steady'].includes(phase);
    cells.push({
      configuration: index, workload: 'mixed', step, phase, state: phase === 'steady' ? 'drained' : null, parameters: phased ? { batch: 1000, rate: phase === 'alone' ? 'max' : 2000, streams: 2, writers: 2 } : {},
      trials: isWrong ? 0 : rounds, median_s: more.seconds ?? null, low_s: null, high_s: null, verdict, bound_by: null, metrics: shown,
      intervals: Object.fromEntries(Object.entries(shown).filter(([name]) => /^(questions_per_h|question_p50_us|interference|debt|disorder|documents_per_s)$/.test(name)).map(([name, value]) => [name, near(value)])),
      ratio_to_best: null, ratio_to_yardstick: null,
    });
    evidence.push({
      key: `mixed/${configurations[index].system}/${step}/${phase}`, statement: null, plan: null, answers: [],
      trials: {
        round: column((round) => round + 1), order: column(() => 0), at_ms: column((round) => Date.parse('2026-11-22T02:30:00Z') + round * 5000), seconds: column(() => more.seconds ?? null), server_s: column(() => null),
        verdict: column(() => verdict), bound_by: column(() => null), failure: column(() => (isWrong ? { kind: 'wrong', error: `another document: ${SCRIPT}` } : null)),
        metrics: Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, column(() => value)])),
      },
      ...(more.each === undefined || isWrong ? {} : { seconds: column((round) => ({
        // Ten seconds and a bit; one system stands still in the fourth.
        round: round + 1, order: 0, operations: Array.from({ length: 11 }, (_, at) => (at === 10 ? 3 : Math.round(more.each * (0.95 + 0.1 * random()) * (index === 1 && at === 3 ? 0 : 1)))),
        errors: Array(11).fill(0), longest_us: Array(11).fill(90_000), backlog: Array(11).fill(0), ramp: 1, checkpoints: null,
        // No question begins in the sixth second.
        ...(more.stale === undefined ? {} : Object.fromEntries(Object.entries(more.stale).map(([name, ms]) => [name, Array.from({ length: 11 }, (_, at) => (at === 5 ? null : ms * (0.8 + 0.2 * random())))]))),
      })) }),
    });
  };
  ASKS.forEach(([system, , asks, kept, [p50, p95, max]], index) => {
    const verdict = system === 'mock' ? 'wrong' : system === 'elasticsearch' ? 'unverified' : 'exact';
    put(index, 'load', 'load', { documents_loaded: 1e5, documents_offered: 1e5 }, { seconds: 1.2 + index * 0.3 });
    put(index, 'size', 'steady', { total_bytes: 1.4e8 + index * 1e7 });
    const [still, both, left, drained] = asks;
    const factors = { still: { seen_cost: 1.4 }, both: { interference: both / left }, left: { debt: left / drained }, drained: { disorder: drained / still } };
    for (const [phase, rate] of Object.entries({ still, both, left, drained })) {
      const seen = phase === 'both' ? { stale_p50_ms: p50, stale_p95_ms: p95, stale_max_ms: max, kept_share: kept } : {};
      const counts = { exact: verdict === 'exact' ? 400 : 0, bounded: verdict === 'exact' ? 0 : 400, holes: verdict === 'exact' ? 0 : 19, torn: 0, went_back: 0 };
      for (const [place, step] of QUESTIONS.entries()) {
        const us = 2e6 / rate * (0.4 + place * 0.3);
        put(index, step, phase, { questions_per_h: rate * 720, question_p50_us: us, question_p95_us: us * 1.6, ...counts, ...seen }, { verdict });
      }
      put(index, 'all', phase, { questions_per_h: rate * 3600, question_p50_us: 2e6 / rate, question_p95_us: 3.2e6 / rate, ...counts, ...seen, ...factors[phase] }, { verdict, each: rate, ...(phase === 'both' ? { stale: { stale_p95_ms: p95, stale_max_ms: max } } : {}) });
    }
    const ingest = (rate) => ({ documents_per_s: rate, insert_response_p50_us: 59_000, insert_response_p95_us: 130_000 * (index + 1), insert_response_max_us: 230_000 * (index + 1), retries: 0, grown_share: 0.2 });
    const writing = verdict === 'wrong' ? 'wrong' : 'exact';
    put(index, 'ingest', 'both', { ...ingest(2000 * kept), kept_share: kept, backlog_documents: 20_000 * (1 - kept) }, { verdict: writing, each: 2000 * kept });
    put(index, 'ingest', 'alone', ingest(20_000 + index * 5000), { verdict: writing, each: 20_000 });
  });
  const run = { ...runOf({ name: 'mixed', configurations, documents: 1e5, rounds, cells, scores: [], failures: [], oddities: false }), answers: answersOf('mixed', configurations) };
  return pack([{ run, evidence: { texts: [], cells: evidence, series: null } }]);
}

/** Peaks and points of the systems of a frontier: documents per second and questions per hour alone, and both at each rate. */
const FRONTIERS = [
  ['postgresql', 'PostgreSQL', [36_850, 12_168], [[3757, 12_024], [7459, 10_152], [18_458, 8712], [28_208, 8316], [30_052, 9180]], 'exact'],
  ['sqlite', 'SQLite', [21_000, 9000], [[2100, 8400], [4200, 8000], [10_400, 1200], [14_000, 2500], [13_000, 2400]], 'exact'],
  ['mongodb', 'MongoDB', [27_000, 540], [[2700, 500], [5400, 480], [8000, 300], [8700, 260], [8900, 220]], 'unverified'],
];

/** A run of the frontier: one system as tried by hand, one with points below the line and a dominated one, one with unverified answers. */
export function frontier() {
  const rounds = 3;
  const configurations = FRONTIERS.map(([system, title]) => configuration(system, title, { variant: 'generated', ...AS_IS }));
  const [cells, evidence] = [[], []];
  const put = (index, step, phase, parameters, metrics, verdict) => {
    const column = (of) => Array.from({ length: rounds }, (_, round) => of(round));
    cells.push({
      configuration: index, workload: 'mixed', step, phase, state: null, parameters: { batch: 1000, streams: 2, writers: 2, ...parameters }, trials: rounds, median_s: null, low_s: null, high_s: null, verdict, bound_by: null, metrics,
      intervals: Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name, [value * 0.95, value * 1.05]])), ratio_to_best: null, ratio_to_yardstick: null,
    });
    evidence.push({
      key: `mixed/${configurations[index].system}/${step}/${phase}/${JSON.stringify(parameters)}`, statement: null, plan: null, answers: [],
      trials: {
        round: column((round) => round + 1), order: column(() => 0), at_ms: column((round) => Date.parse('2026-11-22T02:30:00Z') + round * 5000), seconds: column(() => null), server_s: column(() => null),
        verdict: column(() => verdict), bound_by: column(() => null), failure: column(() => null), metrics: Object.fromEntries(Object.entries(metrics).map(([name, value]) => [name, column(() => value)])),
      },
    });
  };
  FRONTIERS.forEach(([, , [documents, questions], points, verdict], index) => {
    put(index, 'ingest', 'alone', { rate: 'max' }, { documents_per_s: documents }, 'exact');
    put(index, 'all', 'still', {}, { questions_per_h: questions }, 'exact');
    [{ rate_share: 0.1 }, { rate_share: 0.2 }, { rate_share: 0.5 }, { rate_share: 0.8 }, { rate: 'max' }].forEach((rate, place) => {
      const [inserted, asked] = points[place];
      put(index, 'ingest', 'both', rate, { documents_per_s: inserted }, 'exact');
      put(index, 'all', 'both', rate, { questions_per_h: asked, stale_p50_ms: 0, stale_p95_ms: 0, stale_max_ms: 0 }, verdict);
    });
  });
  const run = { ...runOf({ name: 'frontier', configurations, documents: 1e6, rounds, cells, scores: [], failures: [], oddities: false }), answers: answersOf('mixed', configurations) };
  return pack([{ run, evidence: { texts: [], cells: evidence, series: null } }]);
}
