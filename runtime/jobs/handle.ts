/**
 * A job's handle, for callers that queue it: its name and payload. It does not import the job's file, so the job's own
 * logic may queue it, and the compiler checks the payload.
 */
import type { z } from '#runtime/schema'

export interface Handle<P extends z.ZodTypeAny = z.ZodTypeAny> {
  readonly kind: 'handle'
  /** The name of its file below `jobs/`. */
  readonly name: string
  /** Sent as JSON, next to the store and request id. No secrets. */
  readonly payload: P
}

export const handle = <P extends z.ZodTypeAny>(name: string, payload: P): Handle<P> =>
  Object.freeze({ kind: 'handle', name, payload })

/** The part of a job that the queue needs: its handle and its options. */
export interface QueuedJob {
  readonly name: string
  readonly handle: Handle
  readonly spec: {
    readonly retry: { limit: number; backoffSeconds: number }
    readonly timeoutSeconds: number
    readonly oneAtATimePer?: (payload: never) => string
    readonly everySeconds?: number
    readonly isBulk?: boolean
  }
}
