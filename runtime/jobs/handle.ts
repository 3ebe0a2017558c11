/**
 * A job as those know it who queue it: its name, and what it is told. Whoever has it needs no file of a job,
 * whose logic may therefore be the very one that queues it, and the compiler checks what is queued.
 */
import type { z } from '#runtime/schema'

export interface Handle<P extends z.ZodTypeAny = z.ZodTypeAny> {
  readonly kind: 'handle'
  /** Of its file below `jobs/`. */
  readonly name: string
  /** Travels as JSON; store and request id travel beside it. No secrets. */
  readonly payload: P
}

export const handle = <P extends z.ZodTypeAny>(name: string, payload: P): Handle<P> =>
  Object.freeze({ kind: 'handle', name, payload })

/** What the queue knows of a job: what it is told, and how it is to be queued. */
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
