import { jsonAnswer, page } from '#runtime/page'
import { receiveAppHook } from '../ecommerce-hook.ts'

const bodyAtMost = 1024 * 1024

export default page({
  method: 'POST',
  path: '/hooks/ecommerce/:provider',
  description:
    "Receives events of a shop from an ecommerce platform for the server's app: its removal, and data requests of shoppers.",
  trust: "The body is signed with the app's secret; the shop in it is the platform's own id.",
  async handler(ctx, request) {
    const { headers, body } = await request.readSigned(bodyAtMost)
    return jsonAnswer({ received: await receiveAppHook(ctx, request.params.provider ?? '', headers, body) })
  },
})
