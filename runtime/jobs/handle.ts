/**
 * A job's handle: the name and the payload's schema, for callers that queue the job. The handle does not import the
 * job's file, so code that the job itself imports can queue it without an import cycle. The compiler checks the
 * payload.
 */
import type { z } from '#runtime/schema'

export interface Handle<P extends z.ZodTypeAny = z.ZodTypeAny> {
  readonly kind: 'handle'
  /** The name of its file below `jobs/`. */
  readonly name: string
  /** The schema of the payload, which is stored as JSON with the store and request id. It must hold no secrets. */
  readonly payload: P
}

export const handle = <P extends z.ZodTypeAny>(name: string, payload: P): Handle<P> =>
  Object.freeze({ kind: 'handle', name, payload })

/** The parts of a job that the queue needs: its handle and some options. */
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
