import { jsonAnswer, page } from '#runtime/page'
import { receiveBillingHook } from '../billing-hook.ts'

const bodyAtMost = 1024 * 1024

export default page({
  method: 'POST',
  path: '/hooks/billing/:provider',
  description: 'What a billing provider tells: checkouts that were paid, charges, agreements that changed.',
  trust: "Signed by the provider with a secret that it shares with this server's adapter.",
  async handler(ctx, request) {
    const { headers, body } = await request.signed(bodyAtMost)
    const keys = await receiveBillingHook(ctx, request.params.provider ?? '', headers, body)
    return jsonAnswer({ received: keys.length })
  },
})
