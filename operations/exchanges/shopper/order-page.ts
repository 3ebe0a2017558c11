/** The page of a looked-up order: a form for each type. Plain HTML without scripts. */
import { escapeHtml } from '#operations/store/index'
import { honeypot, nameWithVariant } from '#operations/storefront/index'
import type { Context } from '#runtime/context'
import { type Choice, FormRenderer, renderHidden } from '#runtime/values/form-renderer'
import { renderText } from '#runtime/values/variables'
import { getText, getTexts } from '#runtime/values/wording'
import type { OpenRequest } from '../requests/units.ts'
import { type PublicSettings, toPublicSettings } from '../settings/public.ts'
import type { ExchangeContent } from '../settings/schema.ts'
import { describeIneligibility } from './eligibility.ts'
import { mapItemNumbers } from './forms.ts'
import { findIneligibility, type Offer, type OfferedItem, type OfferedType } from './offer.ts'
import {
  commonWords,
  formatDay,
  formatPrice,
  renderExchangePage,
  renderParagraphs,
  renderPolicy,
  requestsAction,
  requestWords,
} from './page-words.ts'
import type { Variant } from './variants.ts'

const pageWords = {
  left: {
    en: '{{left}} of {{quantity}} can be asked for',
    'pt-BR': '{{left}} de {{quantity}} podem ser solicitados',
    es: '{{left}} de {{quantity}} se pueden solicitar',
  },
  nothing: {
    en: 'Nothing of this order can be asked for now.',
    'pt-BR': 'Nada deste pedido pode ser solicitado agora.',
    es: 'Ahora no se puede solicitar nada de este pedido.',
  },
  running: {
    en: '{{title}}, requested on {{day}}: {{state}} The link in our message shows more.',
    'pt-BR': '{{title}}, solicitada em {{day}}: {{state}} O link da nossa mensagem mostra mais.',
    es: '{{title}}, solicitado el {{day}}: {{state}} El enlace de nuestro mensaje muestra más.',
  },
  order: { en: 'Order {{number}}', 'pt-BR': 'Pedido {{number}}', es: 'Pedido {{number}}' },
  exchange: { en: 'Exchange items', 'pt-BR': 'Trocar produtos', es: 'Cambiar artículos' },
  return: { en: 'Return items', 'pt-BR': 'Devolver produtos', es: 'Devolver artículos' },
  until: { en: 'Until {{day}}.', 'pt-BR': 'Até {{day}}.', es: 'Hasta el {{day}}.' },
  anythingElse: {
    en: 'Anything else we should know',
    'pt-BR': 'Algo mais que devemos saber',
    es: 'Algo más que debamos saber',
  },
  conditions: { en: 'Conditions', 'pt-BR': 'Condições', es: 'Condiciones' },
  accept: {
    en: 'I accept the conditions',
    'pt-BR': 'Aceito as condições',
    es: 'Acepto las condiciones',
  },
  withPhoto: { en: 'with a photo', 'pt-BR': 'com uma foto', es: 'con una foto' },
  withComment: { en: 'with a comment', 'pt-BR': 'com um comentário', es: 'con un comentario' },
  withBoth: {
    en: 'with a photo and a comment',
    'pt-BR': 'com uma foto e um comentário',
    es: 'con una foto y un comentario',
  },
  howMany: {
    en: 'How many (up to {{most}})',
    'pt-BR': 'Quantos (até {{most}})',
    es: 'Cuántos (hasta {{most}})',
  },
  reason: { en: 'Reason', 'pt-BR': 'Motivo', es: 'Motivo' },
  comment: { en: 'Comment', 'pt-BR': 'Comentário', es: 'Comentario' },
  instead: {
    en: 'What you want instead',
    'pt-BR': 'O que você quer no lugar',
    es: 'Lo que quieres en su lugar',
  },
  choose: { en: 'Choose', 'pt-BR': 'Escolha', es: 'Elige' },
  photos: { en: 'Photos (up to {{most}})', 'pt-BR': 'Fotos (até {{most}})', es: 'Fotos (hasta {{most}})' },
}
const getPageTexts = (ctx: Context) =>
  getTexts({ ...pageWords, ...commonWords, ...requestWords }, ctx.store.locale)
type Words = ReturnType<typeof getPageTexts>
const renderWith = (text: string, values: Record<string, string | number>): string =>
  renderText(text, Object.fromEntries(Object.entries(values).map(([name, each]) => [name, String(each)])))
    .text

export interface OrderPageInput {
  offer: Offer
  sessionToken: string
  /** Variants that the shopper can choose in exchange. */
  variants: readonly Variant[]
  /** A submitted form of one of the types, with the entered values. */
  filled?: FormRenderer
}

export function renderOrderPage(
  ctx: Context,
  settings: ExchangeContent,
  { offer, sessionToken, variants, filled = new FormRenderer() }: OrderPageInput,
): Response {
  const words = getPageTexts(ctx)
  const lines = offer.items.map((item) => {
    const ineligibility = findIneligibility(offer, item)
    const state = ineligibility
      ? getText(describeIneligibility(ineligibility, settings.texts.outsideWindowMessage), ctx.store.locale)
      : renderWith(words.left, { left: item.availableQuantity, quantity: item.quantity })
    return `<li>${escapeHtml(`${itemName(item)}: ${state}`)}</li>`
  })
  const askable = offer.items.filter((item) => item.ineligibility === null)
  const open = offer.types.filter(({ ineligibility }) => ineligibility === null)
  // If the form's type is no longer offered, its values go into the first offered type, or they would be lost.
  const typed = open.find(({ type }) => type === filled.fields.type) ?? open[0]
  const sections = (askable.length === 0 ? [] : open).map((type) =>
    renderSection(ctx, type, askable, {
      sessionToken,
      settings: toPublicSettings(settings),
      isOpen: open.length === 1,
      variants,
      words,
      form: type === typed ? filled.forAddress(requestsAction(ctx)) : new FormRenderer(),
    }),
  )
  const body =
    filled.renderUnshown() +
    renderParagraphs(settings.texts.intro) +
    offer.openRequests.map((each) => renderOpenRequest(ctx, each, words)).join('') +
    `<ul>${lines.join('')}</ul>${sections.join('')}` +
    (sections.length === 0 && offer.openRequests.length === 0
      ? `<p role="status">${escapeHtml(words.nothing)}</p>`
      : '') +
    renderPolicy(ctx, settings.texts.policy)
  return renderExchangePage(ctx, renderWith(words.order, { number: offer.order.number }), body)
}

function renderOpenRequest(
  ctx: Context,
  { number, type, status, created_at: at }: OpenRequest,
  words: Words,
): string {
  const title = renderWith(words.titles[type === 'return' ? 'return' : 'exchange'], { number })
  const state = words.states[status as keyof Words['states']]
  return `<p role="status">${escapeHtml(renderWith(words.running, { title, state, day: formatDay(ctx, at) }))}</p>`
}

interface Shown {
  sessionToken: string
  settings: PublicSettings
  isOpen: boolean
  variants: readonly Variant[]
  words: Words
  form: FormRenderer
}

function renderSection(
  ctx: Context,
  { type, windowEndsAt, isOutside }: OfferedType,
  items: readonly OfferedItem[],
  shown: Shown,
): string {
  const { sessionToken, settings, isOpen, words, form } = shown
  const { texts, conditions, maxPhotos } = settings
  const until = isOutside
    ? texts.outsideWindowMessage
    : renderWith(words.until, { day: formatDay(ctx, windowEndsAt) })
  const numbers = numberItems(items, form)
  const id = (name: string): string => `${type}-${name}`
  const content =
    honeypot +
    renderHidden('sessionToken', sessionToken) +
    renderHidden('type', type) +
    items
      .map((item, at) => renderItemFields(ctx, type, item, numbers[at]!, items.length === 1, shown))
      .join('') +
    (maxPhotos === 0
      ? ''
      : form.files({
          name: 'photos',
          id: id('photos'),
          label: renderWith(words.photos, { most: maxPhotos }),
          attributes: 'multiple accept="image/jpeg,image/png,image/webp,image/heic"',
        })) +
    form.textarea({ name: 'comment', id: id('comment'), label: words.anythingElse, attributes: textMore }) +
    renderMethods(form, id('methods'), settings, words) +
    (type === 'return' ? renderRefundMethods(form, settings, words) : '') +
    (conditions.length === 0
      ? ''
      : `<h2>${escapeHtml(words.conditions)}</h2><ul>${conditions.map((each) => `<li>${escapeHtml(each)}</li>`).join('')}</ul>`) +
    form.checkbox({
      name: 'acceptedConditions',
      id: id('conditions'),
      label: words.accept,
      attributes: 'required',
    }) +
    `<button>${escapeHtml(texts.buttonText)}</button>`
  const attributes = ` enctype="multipart/form-data" action="${escapeHtml(requestsAction(ctx))}"`
  return (
    `<details${isOpen || form.isSubmitted ? ' open' : ''}><summary>${escapeHtml(words[type])}</summary>` +
    `<p class="note">${escapeHtml(until)}</p>${form.form(attributes, content)}</details>`
  )
}

/**
 * Numbers the items as in the submitted form, so that values stay at their item if another item left the order
 * meanwhile.
 */
function numberItems(items: readonly OfferedItem[], { fields }: FormRenderer): number[] {
  const known = mapItemNumbers(fields)
  let next = Math.max(-1, ...known.values()) + 1
  return items.map(({ id }) => known.get(id) ?? next++)
}

const textMore = 'maxlength="2000" rows="3"'

function renderItemFields(
  ctx: Context,
  type: OfferedType['type'],
  item: OfferedItem,
  at: number,
  isOnly: boolean,
  { settings: { reasons }, variants, words, form }: Shown,
): string {
  // A single item is preselected.
  const least = isOnly ? 1 : 0
  const field = (name: string, short = name) => ({
    name: `items.${at}.${name}`,
    id: `${type}-${at}-${short}`,
  })
  const choices = reasons
    .filter(({ types }) => types.includes(type))
    .map(({ key, label, requiresPhoto, requiresComment }) => {
      const needs = requiresPhoto
        ? words[requiresComment ? 'withBoth' : 'withPhoto']
        : requiresComment && words.withComment
      return { value: key, label: needs ? `${label} (${needs})` : label }
    })
  const most = item.availableQuantity
  return (
    `<fieldset><legend>${escapeHtml(itemName(item))}</legend>` +
    renderHidden(`items.${at}.orderItemId`, item.id) +
    form.input({
      ...field('quantity'),
      label: renderWith(words.howMany, { most }),
      initial: String(least),
      attributes: `type="number" inputmode="numeric" min="${least}" max="${most}" required`,
    }) +
    form.select({ ...field('reason'), label: words.reason }, choices) +
    form.textarea({ ...field('comment'), label: words.comment, attributes: textMore }) +
    (type === 'exchange'
      ? form.select(
          { ...field('exchangeForVariantId', 'for'), label: words.instead },
          listVariantChoices(ctx, item, variants, words),
        )
      : '') +
    '</fieldset>'
  )
}

/** Variants of the item's own product come first; its own variant is excluded. */
function listVariantChoices(
  ctx: Context,
  item: OfferedItem,
  variants: readonly Variant[],
  { choose }: Words,
): Choice[] {
  const others = variants.filter(({ variantId }) => variantId !== item.variantId)
  const own = others.filter(({ productId }) => productId === item.productId)
  const rest = others.filter(({ productId }) => productId !== item.productId)
  const choice = ({ name: product, variantName, unitPrice, currency }: Variant): string =>
    `${nameWithVariant(product, variantName)}: ${formatPrice(ctx, Number(unitPrice), currency)}`
  return [
    { value: '', label: choose },
    ...[...own, ...rest].map((each) => ({ value: each.variantId, label: choice(each) })),
  ]
}

function renderMethods(
  form: FormRenderer,
  id: string,
  { returnMethods }: PublicSettings,
  { wayBack }: Words,
): string {
  const first = returnMethods[0]?.method
  return form.radios(
    {
      name: 'returnMethod',
      id,
      label: wayBack,
      attributes: 'required',
      ...(first ? { initial: first } : {}),
    },
    returnMethods.map(({ method, label, instructions }) => ({ value: method, label, note: instructions })),
  )
}

const renderRefundMethods = (form: FormRenderer, { refundMethods }: PublicSettings, words: Words): string =>
  form.select(
    { name: 'refundMethod', label: words.paidBack },
    refundMethods.map((value) => ({ value, label: words.refunds[value] })),
  )

const itemName = ({ name, variantName }: OfferedItem): string => nameWithVariant(name, variantName)
