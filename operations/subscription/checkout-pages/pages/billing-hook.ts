import { jsonAnswer, page } from '#runtime/page'
import { receiveBillingHook } from '../billing-hook.ts'

const bodyAtMost = 1024 * 1024

export default page({
  method: 'POST',
  path: '/hooks/billing/:provider',
  description: 'Webhooks of a billing provider: paid checkouts, charges, changed agreements.',
  trust: "Signed by the provider with a secret that it shares with this server's adapter.",
  async handler(ctx, request) {
    const { headers, body } = await request.readSigned(bodyAtMost)
    const keys = await receiveBillingHook(ctx, request.params.provider ?? '', headers, body)
    return jsonAnswer({ received: keys.length })
  },
})
