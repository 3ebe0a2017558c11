import { jsonAnswer, page } from '#runtime/page'
import { receiveAppHook } from '../ecommerce-hook.ts'

const bodyAtMost = 1024 * 1024

export default page({
  method: 'POST',
  path: '/hooks/ecommerce/:provider',
  description:
    "What an ecommerce platform tells the server's app of a shop: that it was removed, and what shoppers ask of their data.",
  trust: "The body is signed with the app's secret; the shop in it is the platform's own id.",
  async handler(ctx, request) {
    const { headers, body } = await request.signed(bodyAtMost)
    return jsonAnswer({ received: await receiveAppHook(ctx, request.params.provider ?? '', headers, body) })
  },
})
