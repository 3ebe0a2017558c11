import { page } from '#runtime/page'
import { showCheckout } from '../../checkout-pages/sandbox-checkout.ts'

export default page({
  method: 'GET',
  path: '/sandbox/checkout/:id',
  description: 'The checkout page of the sandbox: plan, amount and a form for a test card.',
  trust: 'Only where the sandbox is on, which production never is.',
  sandboxOnly: true,
  handler: (ctx, { params }) => showCheckout(ctx, params.id!),
})
