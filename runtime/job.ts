/** A background job: one file below a section's `jobs/`; the file's name is the job's. */
import type { Expression } from 'kysely'
import type { Context, SystemContext } from './context.ts'
import type { Handle } from './jobs/handle.ts'
import type { z } from './schema.ts'
import type { Given } from './wiring.ts'

export interface JobSpec<P extends z.ZodTypeAny, C> {
  description: string
  /** Tries after the first, and seconds before the first of them (doubling). */
  retry: { limit: number; backoffSeconds: number }
  timeoutSeconds: number
  /** At most one waiting and one running for each key. */
  oneAtATimePer?: (payload: z.infer<P>) => string
  /** It takes long or much memory: few of these run at once, and none takes a place of what somebody waits for. */
  isBulk?: boolean
  /** Runs by the clock. */
  everySeconds?: number
  /**
   * What a job of the server does for a store follows from what it finds of that one alone, so that it may be done for some
   * of them: where a node of a cluster is gone, for those of the others. Left out: one that is not seen may decide.
   */
  storeByStore?: boolean
  /** Only where the pages of the sandbox are on. */
  sandboxOnly?: boolean
  /** Why running it twice does no harm. */
  safeTwice: string
  run(ctx: C, payload: z.infer<P>, attempt: JobAttempt): Promise<void>
  /** After the last try, whoever ran it; again where it throws. Safe to call twice. */
  failed?(ctx: C, payload: z.infer<P>, reason: string): Promise<void>
}

/**
 * A job that is queued every so often for each store that has something to do: by a job of the server's own, made from
 * this (`jobs/fan-out.ts`), whose name is this one's and `-all`.
 */
export interface Every<P = unknown, Row extends { store_id: string } = never> {
  seconds: number
  /** The stores with something to do now, over all stores; one that is not found gets no job. */
  stores(system: SystemContext): Expression<Row>
  /** What the job is told, for each row; null where there is nothing to do after all. Left out: nothing. */
  payload?(row: Row, now: Date): P | null
}

export interface JobAttempt {
  jobId: string
  /** From 1. */
  number: number
  isLast: boolean
  /**
   * Set when the worker is stopping or the job's time is over: end at the next safe point, within moments. Then the job
   * is another's, and whatever it holds refuses (`held.ts`).
   */
  signal: AbortSignal
}

/** What a worker that stops gives as its reason: the job is handed back, and counts as no try. */
export class WorkerStopping extends Error {
  override name = 'WorkerStopping'
  override message = 'the worker is stopping'
}
/** Nothing was heard of the job for so long that it was given to another. */
export class JobLost extends Error {
  override name = 'JobLost'
  override message = 'the job was given to another worker'
}
export const isStopping = (signal: AbortSignal): boolean => signal.reason instanceof WorkerStopping

export interface Job {
  readonly kind: 'job'
  readonly store: boolean
  /** Its handle's. */
  readonly name: string
  readonly handle: Handle
  readonly spec: JobSpec<z.ZodTypeAny, never> & { readonly every?: Every }
  /** What it gives to the points of sections, as a `wiring.ts` does. */
  readonly wires?: Given
}

/** A job of one store: `ctx` sees that store alone. */
export const job = <P extends z.ZodTypeAny, Row extends { store_id: string }>(
  handle: Handle<P>,
  spec: JobSpec<P, Context> & { every?: Every<z.input<P>, Row> },
): Job => made(handle, true, spec)

/** A job of the server, over all stores. */
export const serverJob = <P extends z.ZodTypeAny>(handle: Handle<P>, spec: JobSpec<P, SystemContext>): Job =>
  made(handle, false, spec)

const made = (handle: Handle, store: boolean, spec: unknown): Job => ({
  kind: 'job',
  store,
  name: handle.name,
  handle,
  spec: spec as Job['spec'],
})
