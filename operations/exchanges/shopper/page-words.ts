/** Parts shared by the shopper's pages: texts, dates, amounts and error texts. */
import { DateTime } from 'luxon'
import { escapeHtml } from '#operations/store/index'
import { renderShopperPage, type ShopperTexts } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { formatMoneyForPage } from '#runtime/values/localized'
import { getText } from '#runtime/values/wording'

export const pagesBase = (ctx: Context): string => `/storefront/${ctx.store.publicId}/exchanges`

/** The URL to which the request form is posted. */
export const requestsAction = (ctx: Context): string => `${pagesBase(ctx)}/requests`

/** A date, or date and time, in the store's locale and time zone. */
export const formatDay = (ctx: Context, at: Date): string => formatAt(ctx, at, DateTime.DATE_FULL)
export const formatMoment = (ctx: Context, at: Date): string => formatAt(ctx, at, DateTime.DATETIME_MED)

const formatAt = (ctx: Context, at: Date, format: Intl.DateTimeFormatOptions): string =>
  DateTime.fromJSDate(at, { zone: ctx.store.timezone }).setLocale(ctx.store.locale).toLocaleString(format)

export const formatPrice = (ctx: Context, amount: number, currency: string): string =>
  formatMoneyForPage(amount, currency, ctx.store.locale)

/** Texts used on several pages. */
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

/** The name and the state of a request. */
export const requestWords = {
  titles: {
    return: { en: 'Return {{number}}', 'pt-BR': 'Devolução {{number}}', es: 'Devolución {{number}}' },
    exchange: { en: 'Exchange {{number}}', 'pt-BR': 'Troca {{number}}', es: 'Cambio {{number}}' },
  },
  states: {
    requested: { en: 'We are looking at it.', 'pt-BR': 'Estamos analisando.', es: 'Lo estamos revisando.' },
    approved: { en: 'It was approved.', 'pt-BR': 'Foi aprovada.', es: 'Se aprobó.' },
    'in-transit': {
      en: 'Your items are on their way to us.',
      'pt-BR': 'Seus produtos estão a caminho da loja.',
      es: 'Tus artículos vienen de camino a la tienda.',
    },
    received: {
      en: 'Your items have arrived.',
      'pt-BR': 'Seus produtos chegaram.',
      es: 'Tus artículos han llegado.',
    },
    completed: { en: 'It is complete.', 'pt-BR': 'Está concluída.', es: 'Está completa.' },
    rejected: { en: 'It was not accepted.', 'pt-BR': 'Não foi aceita.', es: 'No se aceptó.' },
    cancelled: { en: 'You cancelled it.', 'pt-BR': 'Você cancelou.', es: 'La cancelaste.' },
    expired: {
      en: 'It has expired: the items were not sent in time.',
      'pt-BR': 'Expirou: os produtos não foram enviados a tempo.',
      es: 'Ha caducado: los artículos no se enviaron a tiempo.',
    },
  },
}

export const renderPolicy = (ctx: Context, text: string | null): string =>
  text
    ? `<details><summary>${escapeHtml(getText(commonWords.policy, ctx.store.locale))}</summary>${renderParagraphs(text)}</details>`
    : ''

/** Renders a text with its line breaks; empty for null. */
export const renderParagraphs = (text: string | null): string =>
  text ? `<p class="lines">${escapeHtml(text)}</p>` : ''

const moreStyle =
  '.lines{white-space:pre-line}fieldset{min-width:0;margin:1.2rem 0;' +
  'padding:.2rem 1rem 1rem;border:1px solid #d1d5db;border-radius:.4rem}legend{padding:0 .3rem;font-weight:600}' +
  'address{font-style:normal}ul,ol{padding-left:1.2rem}' +
  'details{margin-top:1.2rem;padding:0 1rem;border:1px solid #d1d5db;border-radius:.4rem}details[open]{padding-bottom:1rem}' +
  'summary{margin:0 -1rem;padding:.65rem 1rem;border-radius:.4rem;font-weight:600;cursor:pointer}dl{display:grid;grid-template-columns:fit-content(50%) 1fr;gap:.3rem 1rem}' +
  'dt{color:#4b5563}dd{margin:0}button.quiet{color:#1d4ed8;background:#fff;box-shadow:inset 0 0 0 1px}'

/** A page of this section; `body` is HTML with escaped texts. */
export const renderExchangePage = (ctx: Context, title: string, body: string): Response =>
  renderShopperPage(ctx.store.locale, title, body, { moreStyle })

/** Texts of the error pages: errors name fields by the labels of the forms. */
export const exchangePeople: ShopperTexts = {
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
