/** Writes that ask platform or storage first, of what may change meanwhile. */
import { isDeepStrictEqual } from 'node:util'
import type { Context } from '#runtime/context'
import { refuseForNow } from '#runtime/errors'

const turns = 5
/** Thrown, so that the transaction does not hold: what guards the request is asked again in the next. */
class Moved extends Error {}

/**
 * Reads, lets `prepare` ask the providers outside a transaction, and writes under the store's lock, if what was read
 * still stands; if not, all over again. Not inside a transaction. Refuses with `conflict` where others write all the
 * time.
 */
export async function settledWrite<Before, Prepared, Answer>(
  ctx: Context,
  steps: {
    read(ctx: Context): Promise<Before>
    prepare(before: Before): Promise<Prepared>
    write(tx: Context, before: Before, prepared: Prepared): Promise<Answer>
  },
): Promise<Answer> {
  for (let turn = 0; turn < turns; turn += 1) {
    const before = await steps.read(ctx)
    const prepared = await steps.prepare(before)
    try {
      return await ctx.transaction(async (tx) => {
        await tx.lockStore()
        if (!isDeepStrictEqual(await steps.read(tx), before)) throw new Moved()
        return steps.write(tx, before, prepared)
      })
    } catch (error) {
      if (!(error instanceof Moved)) throw error
    }
  }
  throw refuseForNow('conflict', 'Others are changing the same: try again')
}
