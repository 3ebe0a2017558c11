/** Declares a lane, as data: its columns are checked against its table here, and the engine knows it from then on. */
import type { Sender } from '../sending/deliver.ts'
import type { Lane, Standing, Table } from './lane.ts'
import { applyStatuses } from './moves.ts'
import type { Single, SingleLane } from './single.ts'

const declared = <L extends Lane>(spec: L): L & Sender => {
  const lane: L & Sender = Object.freeze({
    ...spec,
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
  <T extends Table>(spec: Lane<Row, T>): Lane<Row> & Sender =>
    declared(spec as unknown as Lane) as unknown as Lane<Row> & Sender

/** A lane whose messages leave one by one. */
export const single =
  <Row extends Single>() =>
  <T extends Table>(spec: Lane<Row, T> & Omit<SingleLane<Row>, keyof Lane>): SingleLane<Row> & Sender =>
    declared(spec as unknown as Lane) as unknown as SingleLane<Row> & Sender
