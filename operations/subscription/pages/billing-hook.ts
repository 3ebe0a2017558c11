import { jsonAnswer, page } from '#runtime/page'
import { readText } from '#runtime/web'
import { receiveBillingHook } from '../lib/billing-hook.ts'

const bodyAtMost = 1024 * 1024

export default page({
  method: 'POST',
  path: '/hooks/billing/:provider',
  description: 'What a billing provider tells: checkouts that were paid, charges, agreements that changed.',
  trust: "Signed by the provider with a secret that it shares with this server's adapter.",
  async handler(ctx, { raw, params }) {
    const text = await readText(raw, raw.headers.get('content-length') ?? undefined, bodyAtMost)
    const keys = await receiveBillingHook(ctx, params.provider ?? '', raw.headers, Buffer.from(text))
    return jsonAnswer({ received: keys.length })
  },
})
