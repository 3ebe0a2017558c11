/** What the queue and its callers know of a job: no more, or logic would have to know what runs it. */
import type { z } from '#runtime/schema'

export interface NamedJob<P extends z.ZodTypeAny = z.ZodTypeAny> {
  readonly name: string
  readonly spec: { readonly payload: P }
}

export interface QueuedJob extends NamedJob {
  readonly spec: {
    readonly payload: z.ZodTypeAny
    readonly retry: { limit: number; backoffSeconds: number }
    readonly timeoutSeconds: number
    readonly oneAtATimePer?: (payload: never) => string
    readonly everySeconds?: number
  }
}
