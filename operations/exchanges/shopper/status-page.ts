/** The page behind the link of a request, for a person. */
import { escaped } from '#operations/store/door'
import type { Context } from '#runtime/context'
import {
  dayOf,
  momentOf,
  named,
  pagesBase,
  paragraphs,
  priceOf,
  refundWords,
  shopperPage,
} from './page-words.ts'
import type { ShopperItem, ShopperView } from './view.ts'

const stateWords: Readonly<Record<string, string>> = {
  requested: 'We are looking at it.',
  approved: 'It was approved.',
  'in-transit': 'Your items are on their way to us.',
  received: 'Your items have arrived.',
  completed: 'It is complete.',
  rejected: 'It was not accepted.',
  cancelled: 'You cancelled it.',
  expired: 'It has expired: the items were not sent in time.',
}

/** Whose items travel with a carrier. */
const travelling: ReadonlySet<string> = new Set(['customer-ships', 'prepaid-label', 'drop-off'])

export function statusPage(ctx: Context, view: ShopperView, token: string): Response {
  const parts = [
    `<p>${escaped(view.texts.pageTitle)}, order ${escaped(view.orderNumber)}</p>`,
    view.status === 'requested' ? paragraphs(view.texts.successMessage) : '',
    `<p role="status"><strong>${escaped(stateWords[view.status] ?? view.status)}</strong></p>`,
    view.rejectionReason ? paragraphs(view.rejectionReason) : '',
    itemList(ctx, view),
    view.status === 'approved' || view.status === 'in-transit' ? wayBack(ctx, view) : '',
    figures(ctx, view),
    moments(ctx, view),
    forms(ctx, view, token),
    view.texts.policy
      ? `<details><summary>The store's policy</summary>${paragraphs(view.texts.policy)}</details>`
      : '',
  ]
  return shopperPage(`${view.type === 'return' ? 'Return' : 'Exchange'} ${view.number}`, parts.join(''))
}

function itemList(ctx: Context, { items, currency }: ShopperView): string {
  const lines = items.map((item) => `<li>${escaped(itemWords(ctx, item, currency))}</li>`)
  return `<h2>Items</h2><ul>${lines.join('')}</ul>`
}

function itemWords(ctx: Context, item: ShopperItem, currency: string): string {
  const { name, variantName, quantity, approvedQuantity, exchangeFor, reasonLabel } = item
  const what = `${quantity} × ${named(name, variantName)}, ${priceOf(ctx, item.unitPrice, currency)} each`
  const wanted = exchangeFor ? `; for ${named(exchangeFor.name, exchangeFor.variantName)}` : ''
  const decided =
    approvedQuantity !== null && approvedQuantity !== quantity ? `; ${approvedQuantity} approved` : ''
  return `${what}${wanted}${decided} (${reasonLabel})`
}

function wayBack(ctx: Context, view: ShopperView): string {
  const { returnAddress: to, returnMethodLabel, returnInstructions, returnCode, labelUrl, expiresAt } = view
  const address = to && [
    to.recipient,
    [to.street, to.number, to.complement].filter(Boolean).join(', '),
    to.district,
    [to.city, to.state].filter(Boolean).join(', '),
    `${to.postalCode}, ${to.country}`,
    to.phone,
    to.instructions,
  ]
  return [
    '<h2>How it comes back</h2>',
    returnMethodLabel ? `<p>${escaped(returnMethodLabel)}</p>` : '',
    paragraphs(returnInstructions),
    address ? `<address class="lines">${escaped(address.filter(Boolean).join('\n'))}</address>` : '',
    returnCode ? `<p>Code: <strong>${escaped(returnCode)}</strong></p>` : '',
    labelUrl ? `<p><a href="${escaped(labelUrl)}" rel="noreferrer">Shipping label</a></p>` : '',
    expiresAt ? `<p>Send it by ${escaped(dayOf(ctx, new Date(expiresAt)))}.</p>` : '',
  ].join('')
}

function figures(ctx: Context, view: ShopperView): string {
  const { currency, priceDifference, refundMethod, refundAmount, trackingCode, carrier } = view
  const price = (amount: number): string => priceOf(ctx, amount, currency)
  const way = refundWords[refundMethod as keyof typeof refundWords]
  const rows: [string, string | null][] = [
    ['Worth', price(view.amount)],
    ['Difference in price', priceDifference === null ? null : price(priceDifference)],
    ['Paid back', refundAmount === null ? null : price(refundAmount)],
    ['How you are paid back', way ?? null],
    ['Tracking code', trackingCode && [trackingCode, carrier].filter(Boolean).join(', ')],
  ]
  const shown = rows.flatMap(([name, value]) =>
    value === null ? [] : `<dt>${name}</dt><dd>${escaped(value)}</dd>`,
  )
  return `<dl>${shown.join('')}</dl>`
}

function moments(ctx: Context, view: ShopperView): string {
  const steps: [string, string | null][] = [
    ['Requested', view.createdAt],
    ['Approved', view.approvedAt],
    ['Sent', view.inTransitAt],
    ['Received', view.receivedAt],
    ['Completed', view.completedAt],
    ['Not accepted', view.rejectedAt],
    ['Cancelled', view.cancelledAt],
    ['Expired', view.expiredAt],
  ]
  const lines = steps.flatMap(([name, at]) =>
    at === null ? [] : `<li>${name}: ${escaped(momentOf(ctx, new Date(at)))}</li>`,
  )
  return `<h2>What happened</h2><ol>${lines.join('')}</ol>`
}

function forms(ctx: Context, view: ShopperView, token: string): string {
  const action = `${pagesBase(ctx)}/requests/${encodeURIComponent(token)}`
  const takesCode = view.canShip && (travelling.has(view.returnMethod) || view.status === 'in-transit')
  const shipped =
    `<h2>${view.trackingCode ? 'Correct the tracking code' : 'Tell us once you have sent it'}</h2>` +
    `<form method="post" action="${escaped(`${action}/shipped`)}">` +
    `<label for="trackingCode">Tracking code</label><input id="trackingCode" name="trackingCode" required maxlength="80" value="${escaped(view.trackingCode ?? '')}">` +
    `<label for="carrier">Carrier</label><input id="carrier" name="carrier" maxlength="60" value="${escaped(view.carrier ?? '')}">` +
    '<button>Save</button></form>'
  const cancel = `<form method="post" action="${escaped(`${action}/cancel`)}"><button>Cancel this request</button></form>`
  return (takesCode ? shipped : '') + (view.canCancel ? cancel : '')
}
