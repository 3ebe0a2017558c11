/** A job of the server on a cluster of which a node is gone. */
import { among, livingStores } from '#db/citus/living'
import { DatabaseSilent } from '#db/deadlines'
import { type Context, SystemContext } from '#runtime/context'
import type { Job } from '#runtime/job'

/**
 * Runs a job. One that goes store by store and fails while a node is gone is done once more for the stores of the other
 * nodes: what one of all stores keeps from being read would be undone for every store. Where it is known before, those
 * alone are looked at: a look over all would wait for a node that hangs. It has failed all the same, and is tried again.
 */
export async function runEverywhere(
  ctx: Context | SystemContext,
  { storeByStore = false }: Pick<Job['spec'], 'storeByStore'>,
  run: (ctx: Context | SystemContext) => Promise<void>,
): Promise<void> {
  if (!storeByStore || !(ctx instanceof SystemContext)) return run(ctx)
  const { services, log, requestId } = ctx
  const error = await failureOf(async () => {
    if (services.database.awayStores.size > 0)
      throw new DatabaseSilent('A node of the cluster does not answer')
    await run(ctx)
  })
  if (error === null) return
  // Where that cannot be asked either, what happened first is what there is to say.
  const stores = await livingStores(services.database).catch(() => null)
  if (stores !== null) {
    log.warn({ err: error, stores: stores.length }, 'a node is gone: done for the stores of the others')
    const living = among(services.database.root, stores)
    await run(new SystemContext(services, log, requestId, { root: living }))
  }
  throw error
}

async function failureOf(run: () => Promise<void>): Promise<unknown> {
  try {
    await run()
    return null
  } catch (error) {
    return error
  }
}
