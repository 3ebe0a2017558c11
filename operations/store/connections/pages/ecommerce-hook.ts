import { jsonAnswer, page } from '#runtime/page'
import { receiveEcommerceHook } from '../ecommerce-hook.ts'

const bodyAtMost = 3 * 1024 * 1024

export default page({
  method: 'POST',
  path: '/hooks/ecommerce/:provider/:storeId',
  description:
    'Receives events of a store from its ecommerce platform: changed orders, carts, products and stock.',
  trust: "The body is signed with the store's own webhook secret; an event only says what to read again.",
  async handler(ctx, request) {
    const { headers, body } = await request.readSigned(bodyAtMost)
    const { provider = '', storeId = '' } = request.params
    return jsonAnswer({ received: await receiveEcommerceHook(ctx, { provider, storeId }, headers, body) })
  },
})
