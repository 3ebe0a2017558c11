import { connections } from '#operations/store/door'
import { job } from '#runtime/job'
import { keptPagesOf } from '#runtime/ports/pages'
import { cartsSync } from '../../handles.ts'
import { afterPage, moveCartCursor, readCartCursor, upsertCarts } from '../carts.ts'

export default job(cartsSync, {
  description: "Brings the mirror of the platform's carts up to date.",
  retry: { limit: 4, backoffSeconds: 30 },
  timeoutSeconds: 600,
  every: { seconds: 300, stores: connections.connectedStores },
  oneAtATimePer: () => 'carts',
  safeTwice:
    'A cart is written when the platform says something new of it; the cursor moves in the same transaction.',
  async run(ctx, _payload, { signal }) {
    const connected = await connections.ecommerce(ctx)
    if (!connected) return
    let cursor = await readCartCursor(ctx)
    let askedAt = ctx.now()
    const read = (at: string | null) => {
      signal.throwIfAborted()
      askedAt = ctx.now()
      return connected.port.listCarts(connected.store, {
        updatedSince: new Date(cursor.since),
        ...(at === null ? {} : { cursor: at }),
      })
    }
    for await (const page of keptPagesOf(read, ({ next }) => next, cursor.cursor)) {
      cursor = afterPage(cursor, page.next, askedAt)
      await ctx.transaction(async (tx) => {
        await upsertCarts(tx, page.carts)
        await moveCartCursor(tx, connected.connectedAt, cursor)
      })
    }
  },
})
