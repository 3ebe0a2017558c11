/** What a file of `scripts/bench/sizes` says: how a large store is filled, and what is measured there. */
import type { Database } from '#db/database'
import type { Services } from '#runtime/context'

/** A filled database, migrated and empty at first, and the line of the table that a step becomes. */
export interface World {
  database: Database
  services: Services
  /** Runs a step once and reports how long it took beside the time it may take, where it has one. */
  timed<T>(name: string, atMostMs: number | null, step: () => Promise<T>): Promise<T>
  /** Reports times that were taken otherwise, in milliseconds. */
  told(name: string, atMostMs: number | null, times: readonly number[]): void
  /** Runs a step while a worker in a process of its own does the jobs of this database. */
  withWorker<T>(step: () => Promise<T>): Promise<T>
}

export interface Call {
  /** With `/v1` and the query. */
  path: string
  key: string
  /** Posted as JSON; without one the call is a GET. */
  body?: unknown
}

/** A read, sent again and again: its 95th percentile has a time. */
export interface Measure extends Call {
  name: string
  /** The time it may take; null where it has none. */
  atMostMs: number | null
  /** A SELECT of the same rows and nothing else, for what the database alone needs. */
  bare: { text: string; values: readonly unknown[] }
}

/** A call that queues a job, run once in a worker of its own whose memory is looked at. */
export interface JobMeasure extends Call {
  name: string
  atMostMs: number | null
  atMostMiB: number | null
  /** Answers a row once the job is done. */
  done: { text: string; values: readonly unknown[] }
}

export interface Area<Filled = unknown> {
  /** As `--only` names it: the name of the file. */
  name: string
  description: string
  /** How many it is filled with unless `--rows` says otherwise: the number that its times are for. */
  rows: number
  prepare(world: World, rows: number): Promise<Filled>
  measures(filled: Filled): Measure[]
  jobs?(filled: Filled): JobMeasure[]
}

/** Lets an area keep the type of what it prepares to itself. */
export const area = <Filled>(spec: Area<Filled>): Area => spec as Area
