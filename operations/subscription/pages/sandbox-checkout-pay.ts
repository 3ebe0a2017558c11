import { page } from '#runtime/page'
import { readText } from '#runtime/web'
import { payAtCheckout } from '../lib/sandbox-checkout.ts'

const bodyAtMost = 64 * 1024

export default page({
  method: 'POST',
  path: '/sandbox/checkout/:id',
  description:
    'The payer at the checkout of the sandbox: takes a test card, applies the result and sends them back.',
  trust: 'Only where the sandbox is on, which production never is. Card numbers are read and forgotten.',
  sandboxOnly: true,
  async handler(ctx, { raw, params }) {
    const text = await readText(raw, raw.headers.get('content-length') ?? undefined, bodyAtMost)
    return payAtCheckout(ctx, params.id!, new URLSearchParams(text))
  },
})
