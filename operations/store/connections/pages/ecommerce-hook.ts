import { jsonAnswer, page } from '#runtime/page'
import { receiveEcommerceHook } from '../ecommerce-hook.ts'

const bodyAtMost = 3 * 1024 * 1024

export default page({
  method: 'POST',
  path: '/hooks/ecommerce/:provider/:storeId',
  description:
    'What an ecommerce platform tells us of a store: orders, carts, products and stock that changed.',
  trust: "The body is signed with the store's own webhook secret; what is told only says what to read again.",
  async handler(ctx, request) {
    const { headers, body } = await request.signed(bodyAtMost)
    const { provider = '', storeId = '' } = request.params
    return jsonAnswer({ received: await receiveEcommerceHook(ctx, { provider, storeId }, headers, body) })
  },
})
