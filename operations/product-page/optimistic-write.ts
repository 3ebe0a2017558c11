/** Optimistic locking for writes that must call the platform or the storage before their transaction. */
import { isDeepStrictEqual } from 'node:util'
import type { Context } from '#runtime/context'
import { refuseTemporarily } from '#runtime/errors'

const maxTries = 5
/** Thrown to roll back the transaction after a concurrent change. The next attempt repeats all checks. */
class ChangedMeanwhile extends Error {}

/**
 * Reads, then calls `prepare`, which may call providers, outside a transaction. Then writes under the store's lock if
 * the data is unchanged since it was read; otherwise starts over. Refuses with `conflict` after five attempts. Not
 * inside a transaction.
 */
export async function optimisticWrite<Before, Prepared, Answer>(
  ctx: Context,
  steps: {
    read(ctx: Context): Promise<Before>
    prepare(before: Before): Promise<Prepared>
    write(tx: Context, before: Before, prepared: Prepared): Promise<Answer>
  },
): Promise<Answer> {
  for (let attempt = 0; attempt < maxTries; attempt += 1) {
    const before = await steps.read(ctx)
    const prepared = await steps.prepare(before)
    try {
      return await ctx.transaction(async (tx) => {
        await tx.lockStore()
        if (!isDeepStrictEqual(await steps.read(tx), before)) throw new ChangedMeanwhile()
        return steps.write(tx, before, prepared)
      })
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile)) throw error
    }
  }
  throw refuseTemporarily('conflict', 'Others are changing the same: try again')
}
