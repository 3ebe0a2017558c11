/** Shows and submits the sandbox's checkout page. */
import type { SystemContext } from '#runtime/context'
import { Unavailable } from '#runtime/ports/errors'
import { getSandboxBilling } from '../provider/sandbox.ts'
import type { CardInput } from '../provider/sandbox-cards.ts'
import type { ShownCheckout } from '../provider/sandbox-checkouts.ts'
import { deliverSandboxHooks } from './billing-hook.ts'
import {
  renderCheckoutForm,
  renderClosedPage,
  renderUnansweredPage,
  renderUnknownCheckout,
} from './checkout-page.ts'

/** Shows the form of an open checkout; shows another page if the checkout is closed or unknown, or the provider is down. */
export const showCheckout = (ctx: SystemContext, id: string): Promise<Response> =>
  withOpenCheckout(ctx, id, async (checkout) => renderCheckoutForm(checkout))

/** Takes the card, applies the result and redirects the payer with 303. Invalid input shows the form again with 422. */
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
    const paid = await getSandboxBilling(ctx.adapters.billing).pay(id, input)
    if ('closed' in paid) return renderClosedPage()
    if ('faults' in paid) return renderCheckoutForm(checkout, { input, faults: paid.faults })
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
    const checkout = await getSandboxBilling(ctx.adapters.billing).checkout(id)
    if (!checkout) return renderUnknownCheckout()
    return checkout.isOpen ? await work(checkout) : renderClosedPage()
  } catch (error) {
    if (error instanceof Unavailable) return renderUnansweredPage()
    throw error
  }
}
