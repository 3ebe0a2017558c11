/** A checkout at the sandbox's billing provider, and its payer. */

import type { CheckoutRequest } from '#operations/subscription/provider/port'
import { getSandboxBilling, type SandboxBilling } from '#operations/subscription/provider/sandbox'
import type { Quote } from '#operations/subscription/quote'
import { newId } from '#runtime/values/ids'
import type { Shop } from './store.ts'

export const goodCard = '4242424242424242'
export const declinedCard = '4000000000000002'
export const declinesLaterCard = '4000000000000341'
export const chargedBackCard = '4000000000000259'

export const sandboxBillingOfShop = ({ app }: Shop): SandboxBilling =>
  getSandboxBilling(app.services.adapters.billing)

export interface OpenedCheckout {
  /** Our id. */
  checkoutId: string
  providerCheckoutId: string
  /** Path of the page. */
  path: string
}

/** A checkout as our code opens one: at the provider, and as a row. */
export async function openCheckout(
  shop: Shop,
  change: Partial<CheckoutRequest> = {},
): Promise<OpenedCheckout> {
  const now = shop.app.clock.now()
  const request: CheckoutRequest = {
    storeId: shop.id,
    checkoutId: newId(now.getTime()),
    kind: 'subscribe',
    planId: 'growth',
    billingCycle: 'monthly',
    firstAmount: '224.10',
    amount: '249.00',
    currency: 'BRL',
    payerEmail: shop.email,
    returnUrl: `${shop.app.services.settings.publicUrl}/billing/return`,
    idempotencyKey: crypto.randomUUID(),
    ...change,
  }
  const opened = await sandboxBillingOfShop(shop).createCheckout(request)
  await rememberCheckout(shop, request, opened)
  return {
    checkoutId: request.checkoutId,
    providerCheckoutId: opened.providerCheckoutId,
    path: new URL(opened.url).pathname,
  }
}

/** The result of a payment: the plan from then on, at the amount of every later charge. */
const buildQuote = (q: CheckoutRequest, now: Date): Quote => ({
  planId: q.planId,
  billingCycle: q.billingCycle,
  begins: 'now',
  price: q.amount,
  currency: q.currency,
  coupon: null,
  isCouponNew: false,
  cost: q.firstAmount,
  amount: q.firstAmount,
  charge: q.firstAmount,
  discount: '0.00',
  credit: '0.00',
  balanceDelta: '0.00',
  periodStart: now.toISOString(),
  periodEnd: now.toISOString(),
})

async function rememberCheckout(
  shop: Shop,
  q: CheckoutRequest,
  opened: { providerCheckoutId: string; url: string; expiresAt: Date },
): Promise<void> {
  const now = shop.app.clock.now()
  const { root } = shop.app.database
  await root
    .updateTable('checkouts')
    .set({ status: 'cancelled' })
    .where('store_id', '=', shop.id)
    .where('status', '=', 'open')
    .execute()
  await root
    .insertInto('checkouts')
    .values({
      store_id: shop.id,
      id: q.checkoutId,
      kind: q.kind,
      status: 'open',
      provider: 'sandbox',
      provider_checkout_id: opened.providerCheckoutId,
      url: opened.url,
      plan_id: q.planId,
      billing_cycle: q.billingCycle,
      amount: q.firstAmount,
      currency: q.currency,
      terms: JSON.stringify(buildQuote(q, now)),
      expires_at: opened.expiresAt,
      created_at: now,
      updated_at: now,
    })
    .execute()
}

/** A page of the server, by its path or full address. */
export function visit(shop: Shop, address: string, form?: Record<string, string>): Promise<Response> {
  const url = new URL(address, 'http://localhost')
  const init = form ? { method: 'POST', body: new URLSearchParams(form) } : {}
  return Promise.resolve(shop.app.fetch(new Request(url, init), { ip: '127.0.0.1' }))
}

/** The payer sends the form of a checkout page. */
export const pay = (shop: Shop, path: string, cardNumber = goodCard): Promise<Response> =>
  visit(shop, path, { cardNumber, holder: 'Ana Souza', expMonth: '12', expYear: '2031' })

/** The billing events of a store, oldest first. */
export const billingEvents = (shop: Shop) =>
  shop.app.database.root
    .selectFrom('provider_events')
    .select(['key', 'kind', 'payload', 'applied_at', 'occurred_at'])
    .where('port', '=', 'billing')
    .where('store_id', '=', shop.id)
    .orderBy('id')
    .execute()
