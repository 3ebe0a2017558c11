/** What a file of `scripts/bench/sizes` says: how a large store is filled, and what is measured there. */
import type { Database } from '#db/database'
import type { Context, Services } from '#runtime/context'
import type { openStore } from './fixture.ts'

export type Shop = Awaited<ReturnType<typeof openStore>> & { ctx: Context }

export interface World {
  database: Database
  services: Services
  rows: number
  /** Opens a store with a key of all scopes and, where a phone is given, a number of the sandbox. */
  open(slug: string, phone?: string): Promise<Shop>
  /** Runs SQL in which `{store}` and `{rows}` are replaced. */
  fill(shop: Shop, rows: number, statements: readonly string[]): Promise<void>
  /** Reports times that were measured while it was filled, in milliseconds. */
  report(name: string, atMostMs: number, times: readonly number[]): void
  /** Runs a step while a worker runs in a process of its own. */
  withWorker<T>(step: () => Promise<T>): Promise<T>
}

/** A read, sent again and again, and the most that its 95th percentile may take. */
export type Check = readonly [name: string, path: string, atMostMs: number]

/** A call that queues a job, run once in a worker of its own. */
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
  /** Rows that its times are for, unless `--rows` says otherwise. */
  rows: number
  /** SQL that fills the store. */
  fill?: readonly string[]
  /** Stores with 500 rows each beside it, so that the planner meets what it meets in production. */
  neighbours?: number
  phone?: string
  /** For what SQL cannot fill. Returns ids for the checks. */
  prepare?(world: World, shop: Shop): Promise<Record<string, string>>
  checks?(ids: Record<string, string>, rows: number): Check[]
  jobs?(ids: Record<string, string>, rows: number): JobCheck[]
}

const dayOf = (at: number): string =>
  new Intl.DateTimeFormat('en-CA', { timeZone: 'America/Sao_Paulo', dateStyle: 'short' }).format(at)
export const daysBefore = (count: number): string => dayOf(Date.now() - count * 86_400_000)
/** The query of the last days, today included. */
export const lastDays = (count: number): string =>
  `startDate=${daysBefore(count - 1)}&endDate=${daysBefore(0)}`

/** Milliseconds that a step takes. */
export async function timed(step: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now()
  await step()
  return performance.now() - startedAt
}
