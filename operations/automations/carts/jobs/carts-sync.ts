import { connections, noteMissed, storesToSync } from '#operations/store/index'
import { job } from '#runtime/job'
import { resumePages } from '#runtime/ports/pagination'
import { readCacheProgress } from '../../engine/cache-progress.ts'
import { cartsSync } from '../../handles.ts'
import { advanceCursor, readCartCursor, saveCartCursor, upsertCarts } from '../carts.ts'

export default job(cartsSync, {
  description: "Syncs the cache of the platform's carts.",
  retry: { limit: 4, backoffSeconds: 30 },
  timeoutSeconds: 600,
  every: { seconds: 300, stores: storesToSync('carts', 'cartsSyncedAt') },
  oneAtATimePer: () => 'carts',
  safeTwice: 'A cart is written only if it changed; the cursor moves in the same transaction.',
  async run(ctx, _payload, { signal }) {
    const connected = await connections.findEcommerce(ctx)
    if (!connected) return
    let cursor = await readCartCursor(ctx)
    const isReported = !connected.port.unreportedTopics?.includes('cart.updated')
    const canMiss = isReported && (await readCacheProgress(ctx))?.carts != null
    const { cartsAppearWithinMs: hiddenMs = 0 } = connected.port
    let askedAt = ctx.now()
    const read = (at: string | null) => {
      signal.throwIfAborted()
      askedAt = ctx.now()
      return connected.port.listCarts(connected.store, {
        updatedSince: new Date(Date.parse(cursor.since) - hiddenMs),
        ...(at === null ? {} : { cursor: at }),
      })
    }
    for await (const page of resumePages(read, ({ next }) => next, cursor.cursor)) {
      cursor = advanceCursor(cursor, page.next, askedAt)
      await ctx.transaction(async (tx) => {
        const written = new Set(await upsertCarts(tx, page.carts))
        // A cart that became an order is announced as an order.
        const changes = page.carts
          .filter(({ id, orderId }) => canMiss && orderId === null && written.has(id))
          .map((each) => each.lastActivityAt)
        await saveCartCursor(tx, connected.connectedAt, cursor, noteMissed(tx, 'carts', { changes }))
      })
    }
  },
})
