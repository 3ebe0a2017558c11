import { refuse } from '#runtime/errors'
import { isId } from '#runtime/ids'
import { jsonAnswer, page } from '#runtime/page'
import { Refused } from '#runtime/ports/errors'
import type { ProviderEvent } from '#runtime/ports/provider'
import { readText } from '#runtime/web'
import { ecommerce, webhookSecret } from '../lib/connections.ts'
import { accept } from '../lib/events.ts'

const bodyAtMost = 3 * 1024 * 1024

export default page({
  method: 'POST',
  path: '/hooks/ecommerce/:provider/:storeId',
  description:
    'What an ecommerce platform tells us of a store: orders, carts, products and stock that changed.',
  trust: "The body is signed with the store's own webhook secret; what is told only says what to read again.",
  async handler(ctx, { raw, params }) {
    const store = isId(params.storeId!) ? await ctx.forStore(params.storeId!) : null
    const connected = store && (await ecommerce(store))
    if (!store || !connected || connected.provider !== params.provider) {
      throw refuse('not_found', 'No store is connected to this platform here')
    }
    const text = await readText(raw, raw.headers.get('content-length') ?? undefined, bodyAtMost)
    let events: ProviderEvent[]
    try {
      const secret = webhookSecret(store, connected.provider)
      events = connected.port.parseWebhook(raw.headers, new TextEncoder().encode(text), secret)
    } catch (error) {
      if (error instanceof Refused) throw refuse('unauthorized', error.message)
      throw error
    }
    await accept(
      ctx,
      'ecommerce',
      connected.provider,
      events.map((event) => ({ ...event, storeId: store.store.id })),
    )
    return jsonAnswer({ received: events.length })
  },
})
