/** Type of a file in `scripts/bench/sizes`: how to fill a large store, and what to measure. */
import type { Database } from '#db/database'
import type { Context, Services } from '#runtime/context'
import type { openStore } from './fixture.ts'

export type Shop = Awaited<ReturnType<typeof openStore>> & { ctx: Context }

export interface World {
  database: Database
  services: Services
  rows: number
  /** Opens a store with a key of all scopes and, if a phone is given, a number of the sandbox. */
  open(slug: string, phone?: string): Promise<Shop>
  /** Runs SQL after replacing `{store}` and `{rows}`. */
  fill(shop: Shop, rows: number, statements: readonly string[]): Promise<void>
  /** Reports times measured while filling, in milliseconds. */
  report(name: string, atMostMs: number, times: readonly number[]): void
  /** Runs a step while a worker runs in its own process. */
  withWorker<T>(step: () => Promise<T>): Promise<T>
}

/** A read that is sent repeatedly, and the limit of its 95th percentile. */
export type Check = readonly [name: string, path: string, atMostMs: number]

/** A call that queues a job, run once in its own worker. */
export interface JobCheck {
  name: string
  path: string
  /** Posted as JSON; without one the call is a GET. */
  body?: unknown
  atMostMs?: number
  atMostMiB?: number
  /** SQL that returns a row once the job is done; `{store}` is replaced. */
  done: string
}

export interface Area {
  /** Rows that its limits are for, unless `--rows` is given. */
  rows: number
  /** SQL that fills the store. */
  fill?: readonly string[]
  /** Number of other stores with 500 rows each, so that the planner sees production-like statistics. */
  neighbours?: number
  phone?: string
  /** Fills what SQL cannot. Returns ids for the checks. */
  prepare?(world: World, shop: Shop): Promise<Record<string, string>>
  checks?(ids: Record<string, string>, rows: number): Check[]
  jobs?(ids: Record<string, string>, rows: number): JobCheck[]
}

const toDay = (at: number): string =>
  new Intl.DateTimeFormat('en-CA', { timeZone: 'America/Sao_Paulo', dateStyle: 'short' }).format(at)
export const daysBefore = (count: number): string => toDay(Date.now() - count * 86_400_000)
/** The query of the last days, including today. */
export const lastDays = (count: number): string =>
  `startDate=${daysBefore(count - 1)}&endDate=${daysBefore(0)}`

/** Milliseconds that a step takes. */
export async function timed(step: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await step()
  return performance.now() - startedAt
}
