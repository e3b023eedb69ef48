// A chart with a link to it.

import { useContext } from 'preact/hooks';
import type { ComponentProps, JSX } from 'preact';

import { ChartFrame } from '../../charts/frame.tsx';
import { Anchor, figureId, figureName, PartContext } from './anchor.tsx';

/** The chart in a place that a link can lead to. */
export function Figure(props: ComponentProps<typeof ChartFrame>): JSX.Element {
  const at = figureName(useContext(PartContext), props.title);
  return (
    <div id={figureId(at)} class="figure-place" tabIndex={-1}>
      <ChartFrame {...props} />
      <Anchor at={at} title={props.title} />
    </div>
  );
}
