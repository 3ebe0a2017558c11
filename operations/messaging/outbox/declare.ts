/** Declares a lane, as data: its columns are checked against its table here, and the engine knows it from then on. */
import type { Sender } from '../sending/deliver.ts'
import { type Lane, type Saying, type Standing, type Table, usualColumns } from './lane.ts'
import { applyStatuses } from './moves.ts'
import { type Single, type SingleLane, usualSingleColumns } from './single.ts'

const declared = <L extends Lane>(spec: L, usual: object): L & Sender => {
  const lane: L & Sender = Object.freeze({
    ...spec,
    columns: { ...usual, ...spec.columns },
    applyStatuses: (
      ctx: Parameters<Sender['applyStatuses']>[0],
      statuses: Parameters<Sender['applyStatuses']>[1],
    ) => applyStatuses(ctx, lane, statuses),
  })
  return lane
}

/** A lane whose messages leave in batches. */
export const lane =
  <Row extends Standing>() =>
  <T extends Table>(spec: Lane<Row, T> & Saying<T, typeof usualColumns>): Lane<Row> & Sender =>
    declared(spec as unknown as Lane, usualColumns) as unknown as Lane<Row> & Sender

/** A lane whose messages leave one by one. */
export const single =
  <Row extends Single>() =>
  <T extends Table>(
    spec: Lane<Row, T> & Omit<SingleLane<Row>, keyof Lane> & Saying<T, typeof usualSingleColumns>,
  ): SingleLane<Row> & Sender =>
    declared(spec as unknown as Lane, usualSingleColumns) as unknown as SingleLane<Row> & Sender
