/** What sections give to the runtime. */
import type { Context } from './context.ts'
import type { Look } from './references.ts'
import type { z } from './schema.ts'
import { byKey, inOrder, points } from './wiring.ts'

const declared = points({
  /** How things that fields name are looked for, by their kind. */
  references: byKey<Look>(),
  /** Told, in its transaction, of all that a resource says from now on: it keeps what it names. */
  keeps:
    inOrder<
      (
        tx: Context,
        owner: string,
        schema: z.ZodTypeAny,
        said: { before: unknown; after: unknown },
      ) => Promise<void>
    >(),
  /** Told of a job of a store that failed for good. */
  jobFailed: inOrder<(ctx: Context, jobName: string, jobId: string, reason: string) => Promise<void>>(),
})
export default declared

declare module './wiring.ts' {
  interface Points extends DeclaredByRuntime {}
}
type DeclaredByRuntime = typeof declared.declared
