/** A job of the server on a cluster of which a node is gone. */
import { among, livingStores } from '#db/citus/living'
import { type Context, SystemContext } from '#runtime/context'

/**
 * Runs a job. One of the server's that fails while a node is gone is done once more for the stores of the other nodes: what
 * one of all stores keeps from being read would be undone for every store. It has failed all the same, and is tried again.
 */
export async function runEverywhere(
  ctx: Context | SystemContext,
  run: (ctx: Context | SystemContext) => Promise<void>,
): Promise<void> {
  try {
    await run(ctx)
  } catch (error) {
    if (!(ctx instanceof SystemContext)) throw error
    const { services, log, requestId } = ctx
    // Where that cannot be asked either, what happened first is what there is to say.
    const stores = await livingStores(services.database).catch(() => null)
    if (stores === null) throw error
    log.warn({ err: error, stores: stores.length }, 'a node is gone: done for the stores of the others')
    await run(new SystemContext({ ...services, database: among(services.database, stores) }, log, requestId))
    throw error
  }
}
