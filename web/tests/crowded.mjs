// Sample pages with as much text in their figures as runs may have: long names that differ in one word, many curves, and workloads
// with one size only.

import { answersOf, configuration, documents, HOSTILE, makeRun, numbers, pack, runOf, SCRIPT, yardstick } from './data.mjs';

const AS_IS = { preparation: 'as-is', ranking: 'as-is', profile: 'sized' };

/** Variants of one system whose long names differ in one word. */
function variants(system, title, version, words) {
  return words.map((word) => configuration(system, title, {
    version, variant: `json-column-with-${word}-index-on-the-path-of-the-kind`, storage: 'compressed-lz4-level-1', ...AS_IS,
  }));
}

function crowdedSystems() {
  return [
    ...variants('postgresql', 'PostgreSQL', '18.6', ['btree', 'hash', 'gin', 'brin']),
    ...variants('mariadb', 'MariaDB Community Server', '12.2.1-preview', ['virtual', 'stored']),
    configuration('mock', HOSTILE.repeat(3), { variant_title: SCRIPT, ...AS_IS }),
    configuration('elasticsearch', 'Elasticsearch', { version: '8.19.8', variant: 'source-with-synthetic-fields', end_of_life: true }),
    configuration('mongodb', 'MongoDB', { version: '6.0.5', end_of_life: true, outdated: '2023-03-13', ...AS_IS }),
    configuration('sqlite', 'SQLite', { version: '3.54.1', embedded: true, transport: null }),
    configuration('mysql', 'MySQL', { version: '9.7.4', variant: 'virtual', profile: 'stock', memory_bytes: null, ranking: 'prepared, stock', settings: [] }),
    ...yardstick(),
  ];
}

export function crowded() {
  return pack([makeRun({ name: 'crowded', configurations: crowdedSystems(), documents: 10_000_000, seed: 21 })]);
}

const TITLES = { q1: 'most-used-language', q2: 'most-used-currency', q3: 'Which customers ordered the same article again within a week of the first order?' };

/** A run of a user's own questions, with long titles and one answer that differs. */
export function ownQuestions() {
  const made = makeRun({ name: 'own', configurations: crowdedSystems().filter((one) => !one.reference).slice(0, 6), documents: 50_000, seed: 22, oddities: false });
  const names = { q1: 'most-used-language', q2: 'most-used-currency', q3: 'orders-repeated' };
  const { run } = made;
  run.cells = run.cells.filter(({ step }) => !['q4', 'q5', 'q6'].includes(step)).map((cell) => ({ ...cell, workload: 'questions', step: names[cell.step] ?? cell.step }));
  made.evidence.cells = made.evidence.cells.filter(({ key }) => !/\/q[456]\//.test(key));
  run.questions = Object.entries(names).map(([step, name]) => ({ name, title: TITLES[step], asks: 'What it says.' }));
  run.agreements = run.questions.map(({ name }) => ({
    workload: 'questions', question: name, basis: 'agreed', documents: 50_000, holding: 'blake3:00', columns: ['word', 'times'], first: { rows: [['de', 12]], count: 1 },
    answers: run.configurations.map((one, index) => ({
      system: one.system, version: one.version, variant: one.variant, storage: one.storage, documents: 50_000, holding: 'blake3:00', answer: index === 1 ? 'different' : 'same', statement: 'SELECT 1',
      ...(index === 1 ? { why: 'another number', rows: { missing_rows: [['de', 12]], missing_count: 1, extra_rows: [['de', 11]], extra_count: 1 } } : {}),
    })),
  }));
  run.answers = answersOf('questions', run.configurations);
  run.scores = [];
  return pack([made]);
}

/** Evidence of a cell without times. */
function evidenceOf(cell, rounds = 1) {
  const column = (of) => Array.from({ length: rounds }, (_, round) => of(round));
  return {
    key: `${cell.workload}/${cell.configuration}/${cell.step}/${JSON.stringify(cell.parameters)}`, statement: null, plan: null, answers: [],
    trials: {
      round: column((round) => round + 1), order: column(() => 0), at_ms: column((round) => Date.parse('2026-11-22T02:30:00Z') + round * 5000), seconds: column(() => null), server_s: column(() => null),
      verdict: column(() => cell.verdict), bound_by: column(() => null), failure: column(() => null), metrics: Object.fromEntries(Object.entries(cell.metrics).map(([name, value]) => [name, column(() => value)])),
    },
  };
}

function plainCell(configurationIndex, workload, step, more = {}) {
  return {
    configuration: configurationIndex, workload, step, phase: 'steady', state: 'drained', parameters: {}, trials: 1, median_s: null, low_s: null, high_s: null, verdict: 'exact', bound_by: null,
    metrics: {}, intervals: {}, ratio_to_best: null, ratio_to_yardstick: null, ...more,
  };
}

/** A page of a run with these cells. */
function pageOf(name, configurations, cells, more = {}) {
  const run = { ...runOf({ name, configurations, documents: 100_000, rounds: 3, cells, scores: [], failures: [], oddities: false }), answers: answersOf(cells[0].workload, configurations), ...more };
  return pack([{ run, evidence: { texts: [], cells: cells.map((cell) => evidenceOf(cell)), series: null } }]);
}

/** A serving run with eight configurations, two mixes, eight numbers of clients, and an open loop. */
export function crowdedServing() {
  const random = numbers(23);
  const durability = { tier: 'synced', process_crash: 'nothing', power_loss: 'nothing', basis: '' };
  const configurations = crowdedSystems().filter((one) => !one.reference).slice(0, 8).map((one) => ({ ...one, ...AS_IS, durability }));
  const shares = [0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999, 1];
  const cells = [];
  configurations.forEach((_, index) => {
    for (const mix of ['a', 'c']) {
      for (const clients of [1, 2, 4, 8, 16, 32, 64, 100]) {
        const rate = Number((900 * (1 + index / 20) * clients * 9 / (clients + 8) * (0.98 + 0.04 * random())).toPrecision(6));
        const us = 1e6 * clients / rate;
        const times = (name) => ({ [`${name}_p50_us`]: us * 0.9, [`${name}_p90_us`]: us * 1.5, [`${name}_p99_us`]: us * 2.3, [`${name}_p999_us`]: us * 3, [`${name}_max_us`]: us * 9 });
        const of = (name, parameters) => plainCell(index, 'serving', mix, {
          phase: 'measured', parameters: { arrival: 'closed', clients, documents: 'flat', durability: 'synced', values: 'text', ...parameters },
          metrics: { throughput_ops_per_s: rate, clients, ...times(name), server_cpu_us_per_op: 60 + index, client_cpu_us_per_op: 9, wal_bytes_per_op: 900 + index },
          intervals: { throughput_ops_per_s: [rate * 0.9, rate * 1.1], [`${name}_p99_us`]: [us * 2, us * 2.6] },
          distributions: { [name]: shares.map((share) => [share, Math.round(us * (share === 1 ? 9 : 0.5 + 0.9 * -Math.log10(1 - share)))]) },
        });
        cells.push(of('service', {}));
        if (mix === 'a' && clients === 100) for (const share of [0.3, 0.6, 0.9]) cells.push(of('response', { arrival: 'poisson', rate_per_s: Math.round(rate * share) }));
      }
    }
  });
  return pageOf('crowded-serving', configurations, cells);
}

/** The documents run with one size and one set of data. */
export function oneSize() {
  const made = documents();
  const [run, evidence] = [made.figures.runs[0], made.evidence.runs[0]];
  const kept = run.cells.flatMap(({ parameters }, place) => (parameters.size === '1MiB' && parameters.data === 'identical' ? [place] : []));
  evidence.cells = kept.map((place) => evidence.cells[place]);
  run.cells = kept.map((place) => run.cells[place]);
  Object.assign(run, { name: 'one-size', crossovers: [] });
  return made;
}

const KINDS = ['number', 'string', 'key', 'array', 'object', 'duplicate', 'space', 'top', 'looks', 'surrogate'];

/** A fidelity run: a hundred documents of ten kinds in six systems. */
export function fidelity() {
  const configurations = crowdedSystems().filter((one) => !one.reference).slice(0, 6);
  const cases = KINDS.flatMap((kind, place) => Array.from({ length: 10 }, (_, index) => ({
    name: `${kind}-with-${index}-and-more`, requirement: index === 9 ? 'reject' : index === 8 ? 'choose' : 'accept', source: 'RFC 8259 §6', probes: `${kind} ${index} ${SCRIPT}`,
    decides_i_json: index < 8, bytes: 20, document: `{"v":${place}.${index}}`,
  })));
  const cells = configurations.flatMap((_, index) => cases.map((document, place) => {
    const taken = document.requirement === 'accept' || (place + index) % 4 === 0;
    const changed = (place + index) % 7 === 0;
    const ways = ['bulk', 'parameter'].flatMap((way) => [
      { subject: way, state: taken ? 'accepted' : 'rejected', ...(taken ? {} : { message: `no such thing: ${HOSTILE}` }) },
      ...(taken ? [{ subject: `${way}, whole`, state: changed ? 'changed' : place % 2 === 0 ? 'same value' : 'same bytes', ...(changed ? { kinds: ['number value', 'key order'], observed: '{"v":1}' } : {}) }] : []),
    ]);
    return plainCell(index, 'fidelity', document.name, { state: null, findings: ways });
  }));
  const grades = configurations.map((_, index) => ({ configuration: index, safe: index > 3, preserved_cases: 70 + index, deciding_cases: 80, contradictions: index > 3 ? [] : ['number-with-1-and-more: changed'] }));
  return pageOf('fidelity', configurations, cells, { cases, i_json: grades });
}

/** A durability run: four systems in three tiers and two kinds of crash, one of which lost more than its tier allows. */
export function durability() {
  const configurations = crowdedSystems().filter((one) => !one.reference).slice(0, 4);
  const cells = configurations.flatMap((_, index) => ['synced', 'process', 'window'].flatMap((tier) => ['process', 'power'].map((kind) => {
    const broken = index === 1 && kind === 'power' && tier !== 'process';
    const lossy = tier === 'process' && kind === 'power';
    const crash = (number) => ({
      subject: `crash ${number}`, state: broken ? 'promise broken' : lossy ? 'lost, as the tier declares' : 'nothing lost', observed: broken || lossy ? `135 of 1,449 writes, the first of ${HOSTILE}` : '900 writes',
    });
    return plainCell(index, 'durability', kind, {
      state: null, parameters: { clients: 3, durability: tier }, ...(broken ? { severity: 'failed' } : {}),
      metrics: {
        crashes: 10, crashes_without_loss: broken || lossy ? 2 : 10, crashes_as_promised: broken ? 8 : 10, acknowledged_writes: 14_718, lost_writes: broken ? 135 : 0, torn_documents: 0,
        writes_out_of_order: 0, writes_acknowledged_after_crash: 0, recovery_s: 0.4 + index, ...(broken ? { oldest_loss_s: 0.283 } : {}),
      },
      findings: [{ subject: 'promise', state: tier === 'synced' ? 'nothing' : 'up to 1 s' }, ...[1, 2, 3].map(crash)],
    });
  })));
  const text = '✖ PostgreSQL 18.6, synced tier, power loss: promise broken in 2 of 10 crashes, 135 of 14,718 acknowledged writes lost';
  const answers = [{
    workload: 'durability', ranking: 'as-is', subject: 'durability', conditions: 'synced', outcome: { kind: 'counted', first: [0], value: '8 of 10' }, caveats: [], caveat_texts: [], caveat_labels: [], sentence: 'PostgreSQL lost data that its tier promises to keep.', severity: 'failed',
  }];
  return pageOf('durability', configurations, cells, { headline: [{ severity: 'failed', text }], answers });
}
