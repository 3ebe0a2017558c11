/** The status page of a request, as HTML. */
import { escapeHtml } from '#operations/store/index'
import { nameWithVariant } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { FormRenderer } from '#runtime/values/form-renderer'
import { renderText } from '#runtime/values/variables'
import { getTexts } from '#runtime/values/wording'
import {
  commonWords,
  formatDay,
  formatMoment,
  formatPrice,
  renderExchangePage,
  renderParagraphs,
  renderPolicy,
  requestsAction,
  requestWords,
} from './page-words.ts'
import type { ShopperItem, ShopperView } from './view.ts'

const pageWords = {
  about: {
    en: '{{title}}, order {{order}}',
    'pt-BR': '{{title}}, pedido {{order}}',
    es: '{{title}}, pedido {{order}}',
  },
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
const getPageTexts = (ctx: Context) =>
  getTexts({ ...pageWords, ...commonWords, ...requestWords }, ctx.store.locale)
type Words = ReturnType<typeof getPageTexts>
const fillText = (text: string, values: Record<string, string>): string => renderText(text, values).text

/** Return methods that send the items with a carrier. */
const carrierMethods: ReadonlySet<string> = new Set(['customer-ships', 'prepaid-label', 'drop-off'])

/** `sent` is a form of this page that was refused; its values are shown again. */
export function renderStatusPage(
  ctx: Context,
  view: ShopperView,
  token: string,
  sent = new FormRenderer(),
): Response {
  const words = getPageTexts(ctx)
  const drawn = renderForms(ctx, view, token, words, sent)
  const title = fillText(words.about, { title: view.texts.pageTitle, order: view.orderNumber })
  const state = words.states[view.status as keyof Words['states']]
  const parts = [
    sent.renderUnshown(),
    `<p>${escapeHtml(title)}</p>`,
    view.status === 'requested' ? renderParagraphs(view.texts.successMessage) : '',
    `<p role="status"><strong>${escapeHtml(state)}</strong></p>`,
    view.rejectionReason ? renderParagraphs(view.rejectionReason) : '',
    renderItems(ctx, view, words),
    view.status === 'approved' || view.status === 'in-transit' ? renderReturnMethod(ctx, view, words) : '',
    renderAmounts(ctx, view, words),
    renderSteps(ctx, view, words),
    drawn,
    renderPolicy(ctx, view.texts.policy),
  ]
  const { number } = view
  return renderExchangePage(
    ctx,
    fillText(words.titles[view.type === 'return' ? 'return' : 'exchange'], { number }),
    parts.join(''),
  )
}

function renderItems(ctx: Context, { items, currency }: ShopperView, words: Words): string {
  const lines = items.map((item) => `<li>${escapeHtml(describeItem(ctx, item, currency, words))}</li>`)
  return `<h2>${escapeHtml(words.items)}</h2><ul>${lines.join('')}</ul>`
}

function describeItem(ctx: Context, item: ShopperItem, currency: string, words: Words): string {
  const { name, variantName, quantity, approvedQuantity, exchangeFor, reasonLabel } = item
  const what = `${quantity} × ${nameWithVariant(name, variantName)}`
  const wanted = exchangeFor && nameWithVariant(exchangeFor.name, exchangeFor.variantName)
  const isLess = approvedQuantity !== null && approvedQuantity !== quantity
  const parts = [
    fillText(words.what, { what, price: formatPrice(ctx, item.unitPrice, currency) }),
    wanted && fillText(words.wanted, { wanted }),
    isLess && fillText(words.decided, { units: String(approvedQuantity) }),
  ]
  return `${parts.filter(Boolean).join('; ')} (${reasonLabel})`
}

function renderReturnMethod(ctx: Context, view: ShopperView, words: Words): string {
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
    `<h2>${escapeHtml(words.wayBack)}</h2>`,
    returnMethodLabel ? `<p>${escapeHtml(returnMethodLabel)}</p>` : '',
    renderParagraphs(returnInstructions),
    address ? `<address class="lines">${escapeHtml(address.filter(Boolean).join('\n'))}</address>` : '',
    returnCode ? `<p>${escapeHtml(words.code)}: <strong>${escapeHtml(returnCode)}</strong></p>` : '',
    labelUrl
      ? `<p><a class="alone" href="${escapeHtml(labelUrl)}" rel="noreferrer">${escapeHtml(words.label)}</a></p>`
      : '',
    expiresAt
      ? `<p>${escapeHtml(fillText(words.sendBy, { day: formatDay(ctx, new Date(expiresAt)) }))}</p>`
      : '',
  ].join('')
}

function renderAmounts(ctx: Context, view: ShopperView, words: Words): string {
  const { currency, priceDifference, refundMethod, refundAmount, trackingCode, carrier } = view
  const price = (amount: number): string => formatPrice(ctx, amount, currency)
  const way = words.refunds[refundMethod as keyof Words['refunds']]
  const rows: [string, string | null][] = [
    [words.worth, [price(view.amount), view.amountReason].filter(Boolean).join('. ')],
    [words.difference, priceDifference === null ? null : price(priceDifference)],
    [words.refunded, refundAmount === null ? null : price(refundAmount)],
    [words.paidBack, way ?? null],
    [words.trackingCode, trackingCode && [trackingCode, carrier].filter(Boolean).join(', ')],
  ]
  const shown = rows.flatMap(([name, value]) =>
    value === null ? [] : `<dt>${escapeHtml(name)}</dt><dd>${escapeHtml(value)}</dd>`,
  )
  return `<dl>${shown.join('')}</dl>`
}

function renderSteps(ctx: Context, view: ShopperView, { steps: names, happened }: Words): string {
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
    at === null ? [] : `<li>${escapeHtml(name)}: ${escapeHtml(formatMoment(ctx, new Date(at)))}</li>`,
  )
  return `<h2>${escapeHtml(happened)}</h2><ol>${lines.join('')}</ol>`
}

function renderForms(
  ctx: Context,
  view: ShopperView,
  token: string,
  words: Words,
  sent: FormRenderer,
): string {
  const action = `${requestsAction(ctx)}/${encodeURIComponent(token)}`
  const takesCode = view.canShip && (carrierMethods.has(view.returnMethod) || view.status === 'in-transit')
  const form = sent.forAddress(`${action}/shipped`)
  const shipped = (): string =>
    `<h2>${escapeHtml(view.trackingCode ? words.correct : words.tellUs)}</h2>` +
    form.form(
      ` action="${escapeHtml(`${action}/shipped`)}"`,
      form.input({
        name: 'trackingCode',
        label: words.trackingCode,
        initial: view.trackingCode ?? '',
        attributes:
          'required maxlength="80" autocomplete="off" autocapitalize="characters" spellcheck="false"',
      }) +
        form.input({
          name: 'carrier',
          label: words.carrier,
          initial: view.carrier ?? '',
          attributes: 'maxlength="60" autocomplete="off"',
        }) +
        `<button>${escapeHtml(words.save)}</button>`,
    )
  const cancel = `<form method="post" action="${escapeHtml(`${action}/cancel`)}"><button class="quiet">${escapeHtml(words.cancel)}</button></form>`
  return (takesCode ? shipped() : '') + (view.canCancel ? cancel : '')
}
