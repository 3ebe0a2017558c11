/** The sandbox's checkout page, as a payer would see it at a provider. */
import { answerHtml, escapeHtml } from '#operations/store/index'
import { formatMoneyForPage } from '#runtime/values/localized'
import type { CardInput } from '../provider/sandbox-cards.ts'
import type { ShownCheckout } from '../provider/sandbox-checkouts.ts'

export type CardIssues = Partial<Record<keyof CardInput, string>>

const style =
  '.dates{display:flex;gap:1rem}.dates>div{flex:1}form>div{margin-bottom:.8rem}' +
  'dl{display:grid;grid-template-columns:auto 1fr;gap:.2rem 1rem;padding:1rem;border-radius:.3rem;background:#f3f4f6}' +
  'dt{color:#4b5563}dd{margin:0;font-weight:600}' +
  'aside{margin-top:2rem;padding-top:1rem;border-top:1px solid #d1d5db}aside ul{padding-left:1.2rem}'

const fields: Record<keyof CardInput, { label: string; attributes: string }> = {
  cardNumber: {
    label: 'Card number',
    attributes: 'inputmode="numeric" autocomplete="cc-number" maxlength="30"',
  },
  holder: { label: 'Name on the card', attributes: 'autocomplete="cc-name" maxlength="120"' },
  expMonth: { label: 'Month', attributes: 'inputmode="numeric" autocomplete="cc-exp-month" maxlength="2"' },
  expYear: { label: 'Year', attributes: 'inputmode="numeric" autocomplete="cc-exp-year" maxlength="4"' },
}

const cards: readonly (readonly [number: string, does: string])[] = [
  ['4242 4242 4242 4242', 'is always approved'],
  ['4000 0000 0000 0002', 'is declined now'],
  ['4000 0000 0000 0341', 'is approved now, later charges are declined'],
  ['4000 0000 0000 0259', 'is approved, and charged back a day later'],
]

/** Renders the form. With validation issues the response is a 422 that keeps the typed values, except the card number. */
export function renderCheckoutForm(
  checkout: ShownCheckout,
  typed?: { input: CardInput; faults: CardIssues },
): Response {
  const { faults = {}, input } = typed ?? {}
  const field = (name: keyof CardInput): string => {
    const { label, attributes } = fields[name]
    const value = input && name !== 'cardNumber' ? ` value="${escapeHtml(input[name])}"` : ''
    const fault = faults[name]
    const wrong = fault ? `<p class="wrong" id="${name}-wrong">${escapeHtml(fault)}</p>` : ''
    const isFirst = Object.keys(faults)[0] === name
    const marked = fault
      ? ` aria-invalid="true" aria-describedby="${name}-wrong"${isFirst ? ' autofocus' : ''}`
      : ''
    return (
      `<div><label for="${name}">${label}</label>` +
      `<input id="${name}" name="${name}" required ${attributes}${value}${marked}>${wrong}</div>`
    )
  }
  const isNothingDue = Number(checkout.firstAmount) === 0
  const submit = isNothingDue ? 'Save the card' : `Pay ${money(checkout, checkout.firstAmount)}`
  return answerHtml(
    checkout.kind === 'card-update' ? 'Change your card' : 'Checkout',
    `${summary(checkout)}${typed ? '<p class="wrong" role="alert">The card was not taken: see below.</p>' : ''}` +
      `<form method="post" autocomplete="on">${field('cardNumber')}${field('holder')}` +
      `<div class="dates">${field('expMonth')}${field('expYear')}</div><button>${escapeHtml(submit)}</button></form>` +
      `<aside><p>This is the sandbox: no money moves. Its cards:</p><ul>${cards
        .map(([number, does]) => `<li><code>${number}</code> ${does}</li>`)
        .join('')}</ul></aside>`,
    typed ? 422 : 200,
    { moreStyle: style },
  )
}

function summary(checkout: ShownCheckout): string {
  const { agreement, coupon } = checkout
  const every = agreement.frequency === 12 ? 'a year' : 'a month'
  const from = agreement.startsAt ? `, from ${agreement.startsAt.slice(0, 10)}` : ''
  const rows = [
    ['Plan', checkout.title],
    ['Due now', money(checkout, checkout.firstAmount)],
    ['Then', `${money(checkout, agreement.amount)} ${every}${from}`],
    ...(coupon ? [['Coupon', coupon] as const] : []),
  ]
  return `<dl>${rows.map(([term, text]) => `<dt>${term}</dt><dd>${escapeHtml(text!)}</dd>`).join('')}</dl>`
}

const money = ({ agreement: { currency } }: ShownCheckout, amount: string): string =>
  formatMoneyForPage(amount, currency, 'en')

export const renderClosedPage = (): Response =>
  answerHtml(
    'This checkout is closed',
    '<p>It was paid or declined, a newer one has taken its place, or its 24 hours are over. Start again.</p>',
    410,
  )

export const renderUnknownCheckout = (): Response =>
  answerHtml('There is no such checkout', '<p>Look whether the address is complete.</p>', 404)

export const renderUnansweredPage = (): Response =>
  answerHtml('The payment provider does not answer', '<p>Try again in a few minutes.</p>', 503)
