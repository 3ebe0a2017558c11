/** The page behind the link of a request, for a person. */
import { escaped } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { Filled } from '#runtime/values/filled'
import { renderText } from '#runtime/values/variables'
import { spoken } from '#runtime/values/wording'
import {
  commonWords,
  dayOf,
  exchangePage,
  momentOf,
  named,
  paragraphs,
  policyOf,
  priceOf,
  requestsAction,
} from './page-words.ts'
import type { ShopperItem, ShopperView } from './view.ts'

const pageWords = {
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
  about: {
    en: '{{title}}, order {{order}}',
    'pt-BR': '{{title}}, pedido {{order}}',
    es: '{{title}}, pedido {{order}}',
  },
  return: { en: 'Return {{number}}', 'pt-BR': 'Devolução {{number}}', es: 'Devolución {{number}}' },
  exchange: { en: 'Exchange {{number}}', 'pt-BR': 'Troca {{number}}', es: 'Cambio {{number}}' },
  items: { en: 'Items', 'pt-BR': 'Produtos', es: 'Artículos' },
  what: {
    en: '{{what}}, {{price}} each',
    'pt-BR': '{{what}}, {{price}} cada',
    es: '{{what}}, {{price}} por unidad',
  },
  wanted: { en: 'for {{wanted}}', 'pt-BR': 'por {{wanted}}', es: 'a cambio de {{wanted}}' },
  decided: {
    en: '{{units}} approved',
    'pt-BR': 'unidades aprovadas: {{units}}',
    es: 'unidades aprobadas: {{units}}',
  },
  code: { en: 'Code', 'pt-BR': 'Código', es: 'Código' },
  label: { en: 'Shipping label', 'pt-BR': 'Etiqueta de envio', es: 'Etiqueta de envío' },
  sendBy: {
    en: 'Send it by {{day}}.',
    'pt-BR': 'Envie até {{day}}.',
    es: 'Envíalo antes del final del {{day}}.',
  },
  worth: { en: 'Worth', 'pt-BR': 'Valor', es: 'Importe' },
  difference: { en: 'Difference in price', 'pt-BR': 'Diferença de preço', es: 'Diferencia de precio' },
  refunded: { en: 'Paid back', 'pt-BR': 'Valor devolvido', es: 'Importe devuelto' },
  happened: { en: 'What happened', 'pt-BR': 'O que aconteceu', es: 'Lo que ha pasado' },
  steps: {
    requested: { en: 'Requested', 'pt-BR': 'Solicitada', es: 'Solicitada' },
    approved: { en: 'Approved', 'pt-BR': 'Aprovada', es: 'Aprobada' },
    inTransit: { en: 'Sent', 'pt-BR': 'Enviada', es: 'Enviada' },
    received: { en: 'Received', 'pt-BR': 'Recebida', es: 'Recibida' },
    completed: { en: 'Completed', 'pt-BR': 'Concluída', es: 'Completada' },
    rejected: { en: 'Not accepted', 'pt-BR': 'Não aceita', es: 'No aceptada' },
    cancelled: { en: 'Cancelled', 'pt-BR': 'Cancelada', es: 'Cancelada' },
    expired: { en: 'Expired', 'pt-BR': 'Expirada', es: 'Caducada' },
  },
  correct: {
    en: 'Correct the tracking code',
    'pt-BR': 'Corrija o código de rastreamento',
    es: 'Corrige el código de seguimiento',
  },
  tellUs: {
    en: 'Tell us once you have sent it',
    'pt-BR': 'Avise quando tiver enviado',
    es: 'Avísanos cuando lo hayas enviado',
  },
  save: { en: 'Save', 'pt-BR': 'Salvar', es: 'Guardar' },
  cancel: {
    en: 'Cancel this request',
    'pt-BR': 'Cancelar esta solicitação',
    es: 'Cancelar esta solicitud',
  },
}
const wordsOf = (ctx: Context) => spoken({ ...pageWords, ...commonWords }, ctx.store.locale)
type Words = ReturnType<typeof wordsOf>
const filled = (text: string, values: Record<string, string>): string => renderText(text, values).text

/** Whose items travel with a carrier. */
const travelling: ReadonlySet<string> = new Set(['customer-ships', 'prepaid-label', 'drop-off'])

/** `sent`: one of its forms, where it was refused. */
export function statusPage(ctx: Context, view: ShopperView, token: string, sent = new Filled()): Response {
  const words = wordsOf(ctx)
  const drawn = forms(ctx, view, token, words, sent)
  const title = filled(words.about, { title: view.texts.pageTitle, order: view.orderNumber })
  const state = words.states[view.status as keyof Words['states']]
  const parts = [
    sent.above(),
    `<p>${escaped(title)}</p>`,
    view.status === 'requested' ? paragraphs(view.texts.successMessage) : '',
    `<p role="status"><strong>${escaped(state)}</strong></p>`,
    view.rejectionReason ? paragraphs(view.rejectionReason) : '',
    itemList(ctx, view, words),
    view.status === 'approved' || view.status === 'in-transit' ? wayBack(ctx, view, words) : '',
    figures(ctx, view, words),
    moments(ctx, view, words),
    drawn,
    policyOf(ctx, view.texts.policy),
  ]
  const { number } = view
  return exchangePage(
    ctx,
    filled(view.type === 'return' ? words.return : words.exchange, { number }),
    parts.join(''),
  )
}

function itemList(ctx: Context, { items, currency }: ShopperView, words: Words): string {
  const lines = items.map((item) => `<li>${escaped(itemWords(ctx, item, currency, words))}</li>`)
  return `<h2>${escaped(words.items)}</h2><ul>${lines.join('')}</ul>`
}

function itemWords(ctx: Context, item: ShopperItem, currency: string, words: Words): string {
  const { name, variantName, quantity, approvedQuantity, exchangeFor, reasonLabel } = item
  const what = `${quantity} × ${named(name, variantName)}`
  const wanted = exchangeFor && named(exchangeFor.name, exchangeFor.variantName)
  const isLess = approvedQuantity !== null && approvedQuantity !== quantity
  const parts = [
    filled(words.what, { what, price: priceOf(ctx, item.unitPrice, currency) }),
    wanted && filled(words.wanted, { wanted }),
    isLess && filled(words.decided, { units: String(approvedQuantity) }),
  ]
  return `${parts.filter(Boolean).join('; ')} (${reasonLabel})`
}

function wayBack(ctx: Context, view: ShopperView, words: Words): string {
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
    `<h2>${escaped(words.wayBack)}</h2>`,
    returnMethodLabel ? `<p>${escaped(returnMethodLabel)}</p>` : '',
    paragraphs(returnInstructions),
    address ? `<address class="lines">${escaped(address.filter(Boolean).join('\n'))}</address>` : '',
    returnCode ? `<p>${escaped(words.code)}: <strong>${escaped(returnCode)}</strong></p>` : '',
    labelUrl
      ? `<p><a class="alone" href="${escaped(labelUrl)}" rel="noreferrer">${escaped(words.label)}</a></p>`
      : '',
    expiresAt ? `<p>${escaped(filled(words.sendBy, { day: dayOf(ctx, new Date(expiresAt)) }))}</p>` : '',
  ].join('')
}

function figures(ctx: Context, view: ShopperView, words: Words): string {
  const { currency, priceDifference, refundMethod, refundAmount, trackingCode, carrier } = view
  const price = (amount: number): string => priceOf(ctx, amount, currency)
  const way = words.refunds[refundMethod as keyof Words['refunds']]
  const rows: [string, string | null][] = [
    [words.worth, price(view.amount)],
    [words.difference, priceDifference === null ? null : price(priceDifference)],
    [words.refunded, refundAmount === null ? null : price(refundAmount)],
    [words.paidBack, way ?? null],
    [words.trackingCode, trackingCode && [trackingCode, carrier].filter(Boolean).join(', ')],
  ]
  const shown = rows.flatMap(([name, value]) =>
    value === null ? [] : `<dt>${escaped(name)}</dt><dd>${escaped(value)}</dd>`,
  )
  return `<dl>${shown.join('')}</dl>`
}

function moments(ctx: Context, view: ShopperView, { steps: names, happened }: Words): string {
  const steps: [string, string | null][] = [
    [names.requested, view.createdAt],
    [names.approved, view.approvedAt],
    [names.inTransit, view.inTransitAt],
    [names.received, view.receivedAt],
    [names.completed, view.completedAt],
    [names.rejected, view.rejectedAt],
    [names.cancelled, view.cancelledAt],
    [names.expired, view.expiredAt],
  ]
  const lines = steps.flatMap(([name, at]) =>
    at === null ? [] : `<li>${escaped(name)}: ${escaped(momentOf(ctx, new Date(at)))}</li>`,
  )
  return `<h2>${escaped(happened)}</h2><ol>${lines.join('')}</ol>`
}

function forms(ctx: Context, view: ShopperView, token: string, words: Words, sent: Filled): string {
  const action = `${requestsAction(ctx)}/${encodeURIComponent(token)}`
  const takesCode = view.canShip && (travelling.has(view.returnMethod) || view.status === 'in-transit')
  const form = sent.of(`${action}/shipped`)
  const shipped = (): string =>
    `<h2>${escaped(view.trackingCode ? words.correct : words.tellUs)}</h2>` +
    form.form(
      ` action="${escaped(`${action}/shipped`)}"`,
      form.input({
        name: 'trackingCode',
        label: words.trackingCode,
        first: view.trackingCode ?? '',
        more: 'required maxlength="80" autocomplete="off" autocapitalize="characters" spellcheck="false"',
      }) +
        form.input({
          name: 'carrier',
          label: words.carrier,
          first: view.carrier ?? '',
          more: 'maxlength="60" autocomplete="off"',
        }) +
        `<button>${escaped(words.save)}</button>`,
    )
  const cancel = `<form method="post" action="${escaped(`${action}/cancel`)}"><button class="quiet">${escaped(words.cancel)}</button></form>`
  return (takesCode ? shipped() : '') + (view.canCancel ? cancel : '')
}
