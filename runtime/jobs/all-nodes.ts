/** Runs server jobs on a cluster while a node is down. */
import { findStoresOnHealthyNodes, scopeToStores } from '#db/citus/healthy-nodes'
import { DatabaseUnresponsive } from '#db/deadlines'
import { type Context, SystemContext } from '#runtime/context'
import type { Job } from '#runtime/job'

/**
 * Runs a job. If a `storeByStore` job fails while a node is down, it runs once more for the stores on healthy nodes:
 * otherwise one node's failure would stop the work of every store. If the node is already known to be down, the first
 * run is skipped: a query over all stores would wait for the hanging node. The attempt fails nevertheless, and is
 * retried.
 */
export async function runOnAllNodes(
  ctx: Context | SystemContext,
  { storeByStore = false }: Pick<Job['spec'], 'storeByStore'>,
  run: (ctx: Context | SystemContext) => Promise<void>,
): Promise<void> {
  if (!storeByStore || !(ctx instanceof SystemContext)) return run(ctx)
  const { services, log, requestId } = ctx
  const error = await catchError(async () => {
    if (services.database.unreachableStores.size > 0)
      throw new DatabaseUnresponsive('A node of the cluster does not answer')
    await run(ctx)
  })
  if (error === null) return
  // If the nodes cannot be checked either, only the job's own error is thrown.
  const stores = await findStoresOnHealthyNodes(services.database).catch(() => null)
  if (stores !== null) {
    log.warn({ err: error, stores: stores.length }, 'cluster node down, running for stores on healthy nodes')
    const living = scopeToStores(services.database.root, stores)
    await run(new SystemContext(services, log, requestId, { root: living }))
  }
  throw error
}

async function catchError(run: () => Promise<void>): Promise<unknown> {
  try {
    await run()
    return null
  } catch (error) {
    return error
  }
}
