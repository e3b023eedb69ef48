// The details behind a result: trials, statement, plan, answers, configuration.

import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { ComponentChildren, JSX } from 'preact';

import type { Dot } from '../../charts/trials.ts';
import type { FigureData } from '../../export/csv.ts';
import type { Cell, CellEvidence, RunEvidence } from '../../model.ts';
import type { Table } from './table.tsx';
import { ChartFrame } from '../../charts/frame.tsx';
import { drawTrials, TRIALS_HEIGHT } from '../../charts/trials.ts';
import { byName, bytes, counted, formatOr, interval, metricTitle, NONE, seconds, times, withInterval } from '../../format.ts';
import { cellName, isQuestion, phaseLabel, profileLabel, rankingTitle, ratioLabel, stepTitle, verdictLabel, VERDICTS } from '../../labels.ts';
import { totalRange } from '../../metric.ts';
import { Metric } from '../../metrics.ts';
import { usePage } from '../../page.ts';
import { stealByCell } from '../../steal.ts';
import { isReadFromDisk } from '../../view.ts';
import { Verdict } from '../../vocabulary.ts';
import { KeyValueList, OtherVariants, Settings } from './configuration.tsx';
import { TableOf } from './table.tsx';
import { Terms } from './term.tsx';

function DialogSection({ title, children }: { title: string; children: ComponentChildren }): JSX.Element {
  return <section><h3>{title}</h3>{children}</section>;
}

/** A verdict with its meaning, which is left out for `exact` loads and sizes because they have no answers. */
function verdictOf(cell: Cell): string {
  if (cell.verdict === Verdict.Exact && !isQuestion(cell.step)) return 'exact';
  return `${verdictLabel(cell.verdict)}: ${VERDICTS[cell.verdict]}`;
}

function trialTable(evidence: CellEvidence): Table {
  const { trials } = evidence;
  const metrics = Object.keys(trials.metrics).sort();
  return {
    title: 'Trials',
    columns: [
      { title: 'round', numeric: true }, { title: 'order', numeric: true }, { title: 'ended', name: true }, { title: 'time', numeric: true },
      { title: 'server’s own time', numeric: true }, { title: 'verdict' }, { title: 'bound by' },
      ...metrics.map((name) => ({ title: metricTitle(name), numeric: true })),
    ],
    rows: trials.round.map((round, index) => {
      const failure = trials.failure[index] ?? null;
      const verdict = verdictLabel(trials.verdict[index] ?? Verdict.Unverified);
      return [
        String(round), String(trials.order[index] ?? NONE), new Date(trials.at_ms[index] ?? 0).toISOString().slice(0, 19).replace('T', ' '),
        formatOr(trials.seconds[index], seconds), formatOr(trials.server_s[index], seconds),
        failure === null ? verdict : `${verdict}: ${failure.kind}, ${failure.error}`, trials.bound_by[index] ?? NONE,
        ...metrics.map((name) => formatOr(trials.metrics[name]?.[index], (value) => byName(name, value))),
      ];
    }),
  };
}

function Trials({ cell, evidence, title }: { cell: Cell; evidence: CellEvidence; title: string }): JSX.Element {
  const dots = useMemo((): Dot[] => evidence.trials.round.map((round, index) => {
    const verdict = evidence.trials.verdict[index] ?? Verdict.Unverified;
    const time = evidence.trials.seconds[index] ?? null;
    return { round, seconds: time, verdict, title: `round ${round}: ${time === null ? '' : `${seconds(time)}, `}${verdictLabel(verdict)}` };
  }), [evidence]);
  const draw = useMemo(() => (width: number) => drawTrials(dots, cell.median_s, width, seconds, `${counted(dots.length, 'trial')} by round`), [dots, cell]);
  const data = (): FigureData => ({
    columns: ['round', 'order', 'seconds', 'verdict'],
    rows: dots.map((one, index) => [one.round, evidence.trials.order[index] ?? null, one.seconds, one.verdict]),
  });
  if (dots.length === 0) return <p class="empty">No trials.</p>;
  // Sizes have trials without a time and are not drawn; failed trials have no time either but are drawn.
  const drawn = dots.some((one) => one.seconds !== null || one.verdict !== Verdict.Exact);
  return (
    <>
      {drawn && <ChartFrame title={`Trials of ${title}`} height={TRIALS_HEIGHT} draw={draw} data={data} wide />}
      {drawn && <p class="legend">○ exact, ◇ approximate, △ unverified, □ partial, × without a time (at the bottom); the dashed line is the median.</p>}
      <TableOf table={trialTable(evidence)} head={false} />
    </>
  );
}

function TrialDetails({ evidence, run }: { evidence: CellEvidence; run: RunEvidence }): JSX.Element {
  const text = (index: number | null): string | null => (index === null ? null : run.texts[index] ?? null);
  const statement = text(evidence.statement);
  const plan = evidence.plan;
  return (
    <>
      {statement !== null && <DialogSection title="Statement"><pre tabIndex={0}>{statement}</pre></DialogSection>}
      {plan !== null && (
        <DialogSection title="Plan">
          <p>{plan.violations.length === 0 ? 'As the configuration promises.' : 'Not as the configuration promises:'} File {plan.file}.</p>
          {plan.violations.length > 0 && <ul class="bad">{plan.violations.map((one) => <li>{one}</li>)}</ul>}
          <details><summary>Plan</summary><pre tabIndex={0}>{text(plan.text) ?? NONE}</pre></details>
        </DialogSection>
      )}
      {evidence.answers.length > 0 && (
        <DialogSection title={evidence.answers.length === 1 ? 'Answer' : 'Answers'}>
          {evidence.answers.map((one) => (
            <details key={one.digest}>
              <summary>{one.digest}, {counted(one.trials, 'trial')}</summary>
              <pre tabIndex={0}>{text(one.text) ?? 'The text was not kept.'}</pre>
            </details>
          ))}
        </DialogSection>
      )}
    </>
  );
}

export function CellDialog(): JSX.Element | null {
  const { figures, evidence, view, change, open } = usePage();
  const { opened } = view.state;
  const dialog = useRef<HTMLDialogElement>(null);
  const back = useRef<Element | null>(null);
  useLayoutEffect(() => {
    const element = dialog.current;
    if (element === null || opened === null || element.open) return;
    back.current = document.activeElement;
    element.showModal();
    element.scrollTop = 0;
  }, [opened]);
  useEffect(() => {
    if (opened !== null || back.current === null) return;
    if (back.current instanceof HTMLElement || back.current instanceof SVGElement) back.current.focus();
    back.current = null;
  }, [opened]);
  if (opened === null) return null;
  const run = figures.runs[opened.run];
  const cell = run?.cells[opened.cell];
  const configuration = cell && run?.configurations[cell.configuration];
  if (run === undefined || cell === undefined || configuration === undefined) return null;
  const own = evidence?.runs[opened.run];
  const behind = own?.cells[opened.cell];
  const beside = view.entries.find((entry) => entry.run === opened.run && entry.index === opened.cell)?.beside ?? null;
  const title = `${stepTitle(cell.step, cell.phase)}, ${phaseLabel(cell.phase)}: ${cellName(configuration, cell)}`;
  const close = (): void => change({ opened: null });
  const steal = own === undefined ? undefined : stealByCell(own, run.machine)[opened.cell];
  const sizes = cell.step === 'size' ? totalRange(cell) : null;
  const metrics = Object.entries(cell.metrics).sort(([a], [b]) => (a < b ? -1 : 1));
  return (
    <dialog ref={dialog} aria-labelledby="dialog-title" onClose={close}
      onClick={(event) => { if (event.target === dialog.current) close(); }}>
      <div class="dialog">
        <header>
          <h2 id="dialog-title">{title}</h2>
          <button type="button" class="quiet" onClick={close}>Close</button>
        </header>
        <KeyValueList entries={[
          ['run', `${run.name}${cell.state === null ? '' : `, ${cell.state}`}`],
          ...(sizes?.low == null ? [] : [['range over loads', interval(sizes.low, sizes.high, bytes)] as const]),
          ['median', formatOr(cell.median_s, seconds)], ['95 % interval', interval(cell.low_s, cell.high_s, seconds, cell.median_s)],
          ['× of best', formatOr(cell.ratio_to_best, (one) => `${times(one.ratio)} ${ratioLabel(run, cell, one)}`)],
          ['× of yardstick', formatOr(cell.ratio_to_yardstick, (one) => `${times(one.ratio)} ${ratioLabel(run, cell, one)}`)],
          ['verdict', verdictOf(cell)], ['bound by', cell.bound_by ?? NONE],
          ['trials with a time', String(cell.trials)],
          ...(steal === undefined || steal.known === 0 ? [] : [['trials with more than 2 % CPU steal', `${steal.high} of ${steal.known}`] as const]),
          ['class', configuration.reference ? 'never ranked' : rankingTitle(configuration.ranking)], ['memory profile', profileLabel(configuration)],
        ]} />
        <Terms ids={['median', 'interval', 'of-best', 'of-yardstick', 'trial', 'bound-by', 'steal', 'class', 'profile']} />
        {isReadFromDisk(cell) && (
          <p>Not in memory: a trial read {formatOr(cell.metrics[Metric.ReadBytes], bytes)} from the disk, so these times are not ranked as hot.</p>
        )}
        {configuration.other_questions[cell.step] !== undefined && <p>The published statement asks another question: {configuration.other_questions[cell.step]}</p>}
        {beside !== null && (
          <p>
            Only some rounds were verified as cold. The others: <button type="button" class="quiet" onClick={() => open(beside)}>{phaseLabel(beside.cell.phase)}, {verdictLabel(beside.cell.verdict)}</button>
          </p>
        )}
        <DialogSection title="Trials">
          {own === undefined ? <p class="empty">Reading the trials …</p>
            : behind === undefined ? <p class="empty">No trials.</p> : <Trials cell={cell} evidence={behind} title={title} />}
        </DialogSection>
        {own !== undefined && behind !== undefined && <TrialDetails evidence={behind} run={own} />}
        {metrics.length > 0 && <DialogSection title="Measured"><KeyValueList entries={metrics.map(([name, value]) => [metricTitle(name), withInterval(name, value, cell.intervals[name])] as const)} /></DialogSection>}
        <DialogSection title="Configuration"><Settings configuration={configuration} /><OtherVariants run={opened.run} cell={opened.cell} /></DialogSection>
        {behind !== undefined && (
          <DialogSection title="In the journal">
            <p>Key of this cell in <code>journal.ndjson</code> of the run folder <code>{run.name}</code>; trial keys end in <code>#ROUND.ORDER</code>.</p>
            <pre tabIndex={0}>{behind.key}</pre>
          </DialogSection>
        )}
      </div>
    </dialog>
  );
}
