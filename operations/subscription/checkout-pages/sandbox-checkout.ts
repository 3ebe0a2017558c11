/** What the sandbox's checkout page does. */
import type { SystemContext } from '#runtime/context'
import { Unavailable } from '#runtime/ports/errors'
import { type ShownCheckout, sandboxBillingOf } from '../provider/sandbox.ts'
import type { CardInput } from '../provider/sandbox-cards.ts'
import { deliverSandboxHooks } from './billing-hook.ts'
import { checkoutForm, closedPage, unansweredPage, unknownCheckout } from './checkout-page.ts'

/** The form of an open checkout; another page for what is closed, unknown or cannot be asked. */
export const showCheckout = (ctx: SystemContext, id: string): Promise<Response> =>
  withOpenCheckout(ctx, id, async (checkout) => checkoutForm(checkout))

/** Takes the card, applies the result and sends the payer back with 303; shows the form again with 422. */
export const payAtCheckout = (
  ctx: SystemContext,
  id: string,
  form: Record<string, string>,
): Promise<Response> =>
  withOpenCheckout(ctx, id, async (checkout) => {
    const input: CardInput = {
      cardNumber: form.cardNumber ?? '',
      holder: form.holder ?? '',
      expMonth: form.expMonth ?? '',
      expYear: form.expYear ?? '',
    }
    const paid = await sandboxBillingOf(ctx.adapters.billing).pay(id, input)
    if ('closed' in paid) return closedPage()
    if ('faults' in paid) return checkoutForm(checkout, { input, faults: paid.faults })
    await deliverSandboxHooks(ctx, paid.storeId)
    return new Response(null, {
      status: 303,
      headers: { location: paid.returnUrl, 'cache-control': 'no-store' },
    })
  })

async function withOpenCheckout(
  ctx: SystemContext,
  id: string,
  work: (checkout: ShownCheckout) => Promise<Response>,
): Promise<Response> {
  try {
    const checkout = await sandboxBillingOf(ctx.adapters.billing).checkout(id)
    if (!checkout) return unknownCheckout()
    return checkout.isOpen ? await work(checkout) : closedPage()
  } catch (error) {
    if (error instanceof Unavailable) return unansweredPage()
    throw error
  }
}
