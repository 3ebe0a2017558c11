/** What the pages for people have in common: words, days and amounts, and refusals. */
import { DateTime } from 'luxon'
import { escaped } from '#operations/store/door'
import { type PeopleWords, shopperPage } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { moneyOnPage } from '#runtime/values/localized'
import { said } from '#runtime/values/wording'

export const pagesBase = (ctx: Context): string => `/storefront/${ctx.store.publicId}/exchanges`

/** Where the form of a request is sent. */
export const requestsAction = (ctx: Context): string => `${pagesBase(ctx)}/requests`

/** A day and, where it matters, its hour, as the store's people write it. */
export const dayOf = (ctx: Context, at: Date): string => shownAt(ctx, at, DateTime.DATE_FULL)
export const momentOf = (ctx: Context, at: Date): string => shownAt(ctx, at, DateTime.DATETIME_MED)

const shownAt = (ctx: Context, at: Date, format: Intl.DateTimeFormatOptions): string =>
  DateTime.fromJSDate(at, { zone: ctx.store.timezone }).setLocale(ctx.store.locale).toLocaleString(format)

export const priceOf = (ctx: Context, amount: number, currency: string): string =>
  moneyOnPage(amount, currency, ctx.store.locale)

/** What several pages say. */
export const commonWords = {
  trackingCode: { en: 'Tracking code', 'pt-BR': 'Código de rastreamento', es: 'Código de seguimiento' },
  carrier: { en: 'Carrier', 'pt-BR': 'Transportadora', es: 'Transportista' },
  wayBack: { en: 'How it comes back', 'pt-BR': 'Como o produto volta', es: 'Cómo vuelve el producto' },
  paidBack: {
    en: 'How you are paid back',
    'pt-BR': 'Como você recebe o dinheiro de volta',
    es: 'Cómo se te devuelve el dinero',
  },
  policy: { en: "The store's policy", 'pt-BR': 'A política da loja', es: 'La política de la tienda' },
  refunds: {
    'original-payment': {
      en: 'To the way it was paid',
      'pt-BR': 'Pela mesma forma de pagamento',
      es: 'Por la misma forma de pago',
    },
    'store-credit': {
      en: 'As credit of the store',
      'pt-BR': 'Como crédito na loja',
      es: 'Como crédito en la tienda',
    },
    'bank-transfer': {
      en: 'By bank transfer',
      'pt-BR': 'Por transferência bancária',
      es: 'Por transferencia bancaria',
    },
  },
}

export const policyOf = (ctx: Context, text: string | null): string =>
  text
    ? `<details><summary>${escaped(said(commonWords.policy, ctx.store.locale))}</summary>${paragraphs(text)}</details>`
    : ''

/** A product with its variant, unless its name says it already. */
export const named = (name: string, variantName: string | null): string =>
  variantName && !name.includes(variantName) ? `${name}, ${variantName}` : name

/** Lines stay lines. */
export const paragraphs = (text: string | null): string =>
  text ? `<p class="lines">${escaped(text)}</p>` : ''

const moreStyle =
  '.lines{white-space:pre-line}fieldset{min-width:0;margin:1.2rem 0;' +
  'padding:.2rem 1rem 1rem;border:1px solid #d1d5db;border-radius:.4rem}legend{padding:0 .3rem;font-weight:600}' +
  'address{font-style:normal}ul,ol{padding-left:1.2rem}' +
  'details{margin-top:1.2rem;padding:0 1rem;border:1px solid #d1d5db;border-radius:.4rem}details[open]{padding-bottom:1rem}' +
  'summary{margin:0 -1rem;padding:.65rem 1rem;border-radius:.4rem;font-weight:600;cursor:pointer}dl{display:grid;grid-template-columns:fit-content(50%) 1fr;gap:.3rem 1rem}' +
  'dt{color:#4b5563}dd{margin:0}button.quiet{color:#1d4ed8;background:#fff;box-shadow:inset 0 0 0 1px}'

/** A page of this section; `body` is HTML, its texts escaped already. */
export const exchangePage = (ctx: Context, title: string, body: string): Response =>
  shopperPage(ctx.store.locale, title, body, { moreStyle })

/** What is refused is said with the names of the forms' fields. */
export const exchangePeople: PeopleWords = {
  moreStyle,
  fields: {
    orderNumber: { en: 'Order number', 'pt-BR': 'Número do pedido', es: 'Número de pedido' },
    contact: { en: 'Email or phone', 'pt-BR': 'E-mail ou telefone', es: 'Correo o teléfono' },
    items: { en: 'Items', 'pt-BR': 'Itens', es: 'Artículos' },
    orderItemId: { en: 'Item', 'pt-BR': 'Produto', es: 'Artículo' },
    quantity: { en: 'Quantity', 'pt-BR': 'Quantidade', es: 'Cantidad' },
    reason: { en: 'Reason', 'pt-BR': 'Motivo', es: 'Motivo' },
    comment: { en: 'Comment', 'pt-BR': 'Comentário', es: 'Comentario' },
    exchangeForVariantId: {
      en: 'What you want instead',
      'pt-BR': 'O que você quer no lugar',
      es: 'Lo que quieres en su lugar',
    },
    photoUrls: { en: 'Photos', 'pt-BR': 'Fotos', es: 'Fotos' },
    returnMethod: commonWords.wayBack,
    refundMethod: commonWords.paidBack,
    acceptedConditions: { en: 'Conditions', 'pt-BR': 'Condições', es: 'Condiciones' },
    sessionToken: { en: 'Your lookup', 'pt-BR': 'Sua busca', es: 'Tu búsqueda' },
    trackingCode: commonWords.trackingCode,
    carrier: commonWords.carrier,
  },
}
