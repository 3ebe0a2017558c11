import { page } from '#runtime/page'
import { payAtCheckout } from '../../checkout-pages/sandbox-checkout.ts'

export default page({
  method: 'POST',
  path: '/sandbox/checkout/:id',
  description:
    'The payer at the checkout of the sandbox: takes a test card, applies the result and sends them back.',
  trust: 'Only where the sandbox is on, which production never is. Card numbers are read and forgotten.',
  sandboxOnly: true,
  handler: async (ctx, request) => payAtCheckout(ctx, request.params.id!, await request.fields()),
})
