/** A background job: one file below a section's `jobs/`; the file's name is the job's name. */
import type { Expression } from 'kysely'
import type { Context, SystemContext } from './context.ts'
import type { SectionExtensions } from './extensions.ts'
import type { Handle } from './jobs/handle.ts'
import type { z } from './schema.ts'

export interface JobSpec<P extends z.ZodTypeAny, C> {
  description: string
  /** The number of retries, and the delay before the first retry; the delay doubles with each retry. */
  retry: { limit: number; backoffSeconds: number }
  timeoutSeconds: number
  /** Computes a key: at most one job per key waits, and at most one runs. */
  oneAtATimePer?: (payload: z.infer<P>) => string
  /** For a job that takes long or needs much memory: few run at once, and they leave slots to interactive jobs. */
  isBulk?: boolean
  /** The interval at which a server job is queued automatically. */
  everySeconds?: number
  /**
   * True if the work for each store depends on that store's rows only. If a node of a cluster is down, such a job runs
   * for the stores on healthy nodes. Any other job fails then, since the unreachable stores may affect its result.
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
 * The schedule of a store job: it is queued regularly for each store with something to do. The server job that queues
 * it is generated (`jobs/fan-out.ts`); its name is this job's name followed by `-all`.
 */
export interface Schedule<P = unknown, Row extends { store_id: string } = never> {
  seconds: number
  /** Selects the stores that have something to do now; other stores get no job. */
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
   * Aborted when the worker is stopping or the job has timed out. The handler must then stop at the next safe point,
   * within seconds: after that another worker may have the job, and writes of this run are refused (`job-lease.ts`).
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
  /** Extensions that the job's file registers, like an `extensions.ts`. */
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
