import { jsonAnswer, page } from '#runtime/page'
import { readText } from '#runtime/web'
import { receiveEcommerceHook } from '../lib/ecommerce-hook.ts'

const bodyAtMost = 3 * 1024 * 1024

export default page({
  method: 'POST',
  path: '/hooks/ecommerce/:provider/:storeId',
  description:
    'What an ecommerce platform tells us of a store: orders, carts, products and stock that changed.',
  trust: "The body is signed with the store's own webhook secret; what is told only says what to read again.",
  async handler(ctx, { raw, params }) {
    const text = await readText(raw, raw.headers.get('content-length') ?? undefined, bodyAtMost)
    const from = { provider: params.provider ?? '', storeId: params.storeId ?? '' }
    return jsonAnswer({ received: await receiveEcommerceHook(ctx, from, raw.headers, text) })
  },
})
