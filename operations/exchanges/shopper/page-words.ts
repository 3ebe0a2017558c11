/** What the pages for people have in common: words, days and amounts, and refusals. */
import { DateTime } from 'luxon'
import { escaped, htmlAnswer } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { type Refusal, statusOf } from '#runtime/errors'

export const pagesBase = (ctx: Context): string => `/storefront/${ctx.store.publicId}/exchanges`

/** A day and, where it matters, its hour, as the store's people write it. */
export const dayOf = (ctx: Context, at: Date): string => shownAt(ctx, at, DateTime.DATE_FULL)
export const momentOf = (ctx: Context, at: Date): string => shownAt(ctx, at, DateTime.DATETIME_MED)

const shownAt = (ctx: Context, at: Date, format: Intl.DateTimeFormatOptions): string =>
  DateTime.fromJSDate(at, { zone: ctx.store.timezone }).setLocale(ctx.store.locale).toLocaleString(format)

export const priceOf = (ctx: Context, amount: number, currency: string): string =>
  new Intl.NumberFormat(ctx.store.locale, { style: 'currency', currency }).format(amount)

export const refundWords = {
  'original-payment': 'To the way it was paid',
  'store-credit': 'As credit of the store',
  'bank-transfer': 'By bank transfer',
} as const

/** A product with its variant, unless its name says it already. */
export const named = (name: string, variantName: string | null): string =>
  variantName && !name.includes(variantName) ? `${name}, ${variantName}` : name

/** Lines stay lines. */
export const paragraphs = (text: string | null): string =>
  text ? `<p class="lines">${escaped(text)}</p>` : ''

const moreStyle =
  'body{margin-top:4vh;max-width:40rem}h2{font-size:1.1rem;margin-top:2rem}.lines{white-space:pre-line}' +
  'textarea{width:100%;box-sizing:border-box;font:inherit;padding:.5rem;border:1px solid #9ca3af;border-radius:.3rem}' +
  'fieldset{margin:1rem 0;border:1px solid #d1d5db;border-radius:.3rem}legend{font-weight:600}' +
  'label.choice{display:flex;gap:.5rem;align-items:flex-start}label.choice input{width:auto;margin-top:.35rem}' +
  'input,select,textarea,button{max-width:100%}.note{color:#4b5563;font-size:.9rem}' +
  'details{margin-top:1.5rem}summary{font-weight:600;cursor:pointer}' +
  ':focus-visible{outline:3px solid #1d4ed8;outline-offset:2px}'

/** A page of this section; `body` is HTML, its texts escaped already. */
export const shopperPage = (title: string, body: string, status = 200): Response =>
  htmlAnswer(title, body, status, { moreStyle })

export const missingPage = (): Response =>
  shopperPage('There is nothing here', '<p>Look whether the address is complete.</p>', 404)

const fieldNames: Readonly<Record<string, string>> = {
  orderNumber: 'Order number',
  contact: 'Email or phone',
  items: 'Items',
  orderItemId: 'Item',
  quantity: 'Quantity',
  reason: 'Reason',
  comment: 'Comment',
  exchangeForVariantId: 'What you want instead',
  photoUrls: 'Photos',
  returnMethod: 'How it comes back',
  refundMethod: 'How you are paid back',
  acceptedConditions: 'Conditions',
  trackingCode: 'Tracking code',
  carrier: 'Carrier',
}

/** What was refused, in the words of the page. */
export function refusedPage({ code, message, headers }: Refusal): Response {
  const inWords = message.replace(
    /(^|; )([a-zA-Z]+)(?:\.\d+)?(?:\.([a-zA-Z]+))?: /g,
    (all, start, one, two) => {
      const name = fieldNames[two ?? one]
      return name ? `${start}${name}: ` : all
    },
  )
  const page = shopperPage(
    'That did not work',
    `<p role="alert">${escaped(inWords)}.</p><p>Go back, and try again.</p>`,
    statusOf(code),
  )
  for (const [name, value] of Object.entries(headers ?? {})) page.headers.set(name, value)
  return page
}
