/** Declares an outbox source as data. The compiler checks its columns against its table. */
import type { Sender } from '../sending/deliver.ts'
import {
  defaultColumns,
  type MessageState,
  type OutboxSource,
  type RequiredColumns,
  type Table,
} from './outbox-source.ts'
import { defaultSingleColumns, type SingleOutboxSource, type SingleState } from './single.ts'
import { applyStatuses } from './transitions.ts'

const freezeSource = <L extends OutboxSource>(spec: L, usual: object): L & Sender => {
  const source: L & Sender = Object.freeze({
    ...spec,
    columns: { ...usual, ...spec.columns },
    applyStatuses: (
      ctx: Parameters<Sender['applyStatuses']>[0],
      statuses: Parameters<Sender['applyStatuses']>[1],
    ) => applyStatuses(ctx, source, statuses),
  })
  return source
}

/** Defines a source whose messages are sent in batches. */
export const defineBatchSource =
  <Row extends MessageState>() =>
  <T extends Table>(
    spec: OutboxSource<Row, T> & RequiredColumns<T, typeof defaultColumns>,
  ): OutboxSource<Row> & Sender =>
    freezeSource(spec as unknown as OutboxSource, defaultColumns) as unknown as OutboxSource<Row> & Sender

/** Defines a source whose messages are sent one by one. */
export const defineSingleSource =
  <Row extends SingleState>() =>
  <T extends Table>(
    spec: OutboxSource<Row, T> &
      Omit<SingleOutboxSource<Row>, keyof OutboxSource> &
      RequiredColumns<T, typeof defaultSingleColumns>,
  ): SingleOutboxSource<Row> & Sender =>
    freezeSource(
      spec as unknown as OutboxSource,
      defaultSingleColumns,
    ) as unknown as SingleOutboxSource<Row> & Sender
