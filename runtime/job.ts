/** A background job: one file below a section's `jobs/`; the file's name is the job's name. */
import type { Expression } from 'kysely'
import type { Context, SystemContext } from './context.ts'
import type { SectionExtensions } from './extensions.ts'
import type { Handle } from './jobs/handle.ts'
import type { z } from './schema.ts'

export interface JobSpec<P extends z.ZodTypeAny, C> {
  description: string
  /** Retries after the first attempt, and the seconds before the first of them (doubling). */
  retry: { limit: number; backoffSeconds: number }
  timeoutSeconds: number
  /** At most one waiting and one running job per key. */
  oneAtATimePer?: (payload: z.infer<P>) => string
  /** It takes long or much memory: few of these run at once, and none takes a worker slot from interactive work. */
  isBulk?: boolean
  /** Runs on a schedule. */
  everySeconds?: number
  /**
   * The work for each store depends on that store's rows only, so it may run for some of the stores: for those on
   * healthy nodes if a node of a cluster is down. If absent, a store that cannot be seen may matter.
   */
  storeByStore?: boolean
  /** Exists only if the sandbox pages are on. */
  sandboxOnly?: boolean
  /** Why running it twice does no harm. */
  safeTwice: string
  run(ctx: C, payload: z.infer<P>, attempt: JobAttempt): Promise<void>
  /** Runs after the last attempt, on any worker, and is retried if it throws. Safe to call twice. */
  failed?(ctx: C, payload: z.infer<P>, reason: string): Promise<void>
}

/**
 * A schedule that queues a job for each store with something to do. A server job made from it (`jobs/fan-out.ts`) does
 * so; its name is this job's name and `-all`.
 */
export interface Schedule<P = unknown, Row extends { store_id: string } = never> {
  seconds: number
  /** The stores with something to do now, over all stores; the others get no job. */
  stores(system: SystemContext): Expression<Row>
  /** The job's payload for each row; null if there is nothing to do after all. If absent, the payload is empty. */
  payload?(row: Row, now: Date): P | null
}

export interface JobAttempt {
  jobId: string
  /** From 1. */
  number: number
  isLast: boolean
  /**
   * Aborted when the worker is stopping or the job's time is over: stop at the next safe point, within moments.
   * Afterwards the job belongs to another worker, and its writes are refused (`job-lease.ts`).
   */
  signal: AbortSignal
}

/** The abort reason of a worker that stops: the job is requeued, and the attempt does not count. */
export class WorkerStopping extends Error {
  override name = 'WorkerStopping'
  override message = 'the worker is stopping'
}
/** The job's heartbeat was missing for so long that another worker took the job over. */
export class JobLeaseLost extends Error {
  override name = 'JobLeaseLost'
  override message = 'the job was given to another worker'
}
export const isStopping = (signal: AbortSignal): boolean => signal.reason instanceof WorkerStopping

export interface Job {
  readonly kind: 'job'
  readonly store: boolean
  /** The name of its handle. */
  readonly name: string
  readonly handle: Handle
  readonly spec: JobSpec<z.ZodTypeAny, never> & { readonly every?: Schedule }
  /** Extensions that it registers, as an `extensions.ts` does. */
  readonly extensions?: SectionExtensions
}

/** A job of one store: `ctx` sees that store only. */
export const job = <P extends z.ZodTypeAny, Row extends { store_id: string }>(
  handle: Handle<P>,
  spec: JobSpec<P, Context> & { every?: Schedule<z.input<P>, Row> },
): Job => buildJob(handle, true, spec)

/** A job of the server, over all stores. */
export const serverJob = <P extends z.ZodTypeAny>(handle: Handle<P>, spec: JobSpec<P, SystemContext>): Job =>
  buildJob(handle, false, spec)

const buildJob = (handle: Handle, store: boolean, spec: unknown): Job => ({
  kind: 'job',
  store,
  name: handle.name,
  handle,
  spec: spec as Job['spec'],
})
