/** What of an order that was looked up can be asked for: a form for each type. Plain, no scripts. */
import { escaped } from '#operations/store/door'
import { trap } from '#operations/storefront/door'
import type { Context } from '#runtime/context'
import { type Choice, Filled, hidden } from '#runtime/values/filled'
import { renderText } from '#runtime/values/variables'
import { said, spoken } from '#runtime/values/wording'
import { type PublicSettings, publicSettings } from '../settings/public.ts'
import type { ExchangeContent } from '../settings/schema.ts'
import { faultWords } from './eligibility.ts'
import { itemNumbers } from './forms.ts'
import { faultOf, type Offer, type OfferedItem, type OfferedType } from './offer.ts'
import {
  commonWords,
  dayOf,
  exchangePage,
  named,
  paragraphs,
  policyOf,
  priceOf,
  requestsAction,
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
const wordsOf = (ctx: Context) => spoken({ ...pageWords, ...commonWords }, ctx.store.locale)
type Words = ReturnType<typeof wordsOf>
const rendered = (text: string, values: Record<string, string | number>): string =>
  renderText(text, Object.fromEntries(Object.entries(values).map(([name, each]) => [name, String(each)])))
    .text

export interface Asked {
  offer: Offer
  sessionToken: string
  /** To choose from on an exchange. */
  variants: readonly Variant[]
  /** The form of one of the types, as it was filled in. */
  filled?: Filled
}

export function orderPage(
  ctx: Context,
  settings: ExchangeContent,
  { offer, sessionToken, variants, filled = new Filled() }: Asked,
): Response {
  const words = wordsOf(ctx)
  const lines = offer.items.map((item) => {
    const fault = faultOf(offer, item)
    const state = fault
      ? said(faultWords(fault, settings.texts.outsideWindowMessage), ctx.store.locale)
      : rendered(words.left, { left: item.availableQuantity, quantity: item.quantity })
    return `<li>${escaped(`${itemName(item)}: ${state}`)}</li>`
  })
  const askable = offer.items.filter((item) => item.fault === null)
  const open = offer.types.filter(({ fault }) => fault === null)
  // One that is not offered any more would be lost with all that was typed.
  const typed = open.find(({ type }) => type === filled.fields.type) ?? open[0]
  const sections = (askable.length === 0 ? [] : open).map((type) =>
    section(ctx, type, askable, {
      sessionToken,
      settings: publicSettings(settings),
      isOpen: open.length === 1,
      variants,
      words,
      form: type === typed ? filled.of(requestsAction(ctx)) : new Filled(),
    }),
  )
  const body =
    filled.above() +
    paragraphs(settings.texts.intro) +
    `<ul>${lines.join('')}</ul>${sections.join('')}` +
    (sections.length === 0 ? `<p role="status">${escaped(words.nothing)}</p>` : '') +
    policyOf(ctx, settings.texts.policy)
  return exchangePage(ctx, rendered(words.order, { number: offer.order.number }), body)
}

interface Shown {
  sessionToken: string
  settings: PublicSettings
  isOpen: boolean
  variants: readonly Variant[]
  words: Words
  form: Filled
}

function section(
  ctx: Context,
  { type, windowEndsAt, isOutside }: OfferedType,
  items: readonly OfferedItem[],
  shown: Shown,
): string {
  const { sessionToken, settings, isOpen, words, form } = shown
  const { texts, conditions, maxPhotos } = settings
  const until = isOutside
    ? texts.outsideWindowMessage
    : rendered(words.until, { day: dayOf(ctx, windowEndsAt) })
  const numbers = numbered(items, form)
  const id = (name: string): string => `${type}-${name}`
  const content =
    trap +
    hidden('sessionToken', sessionToken) +
    hidden('type', type) +
    items.map((item, at) => itemFields(ctx, type, item, numbers[at]!, items.length === 1, shown)).join('') +
    (maxPhotos === 0
      ? ''
      : form.files({
          name: 'photos',
          id: id('photos'),
          label: rendered(words.photos, { most: maxPhotos }),
          more: 'multiple accept="image/jpeg,image/png,image/webp,image/heic"',
        })) +
    form.textarea({ name: 'comment', id: id('comment'), label: words.anythingElse, more: textMore }) +
    methods(form, id('methods'), settings, words) +
    (type === 'return' ? refunds(form, settings, words) : '') +
    (conditions.length === 0
      ? ''
      : `<h2>${escaped(words.conditions)}</h2><ul>${conditions.map((each) => `<li>${escaped(each)}</li>`).join('')}</ul>`) +
    form.checkbox({
      name: 'acceptedConditions',
      id: id('conditions'),
      label: words.accept,
      more: 'required',
    }) +
    `<button>${escaped(texts.buttonText)}</button>`
  const attributes = ` enctype="multipart/form-data" action="${escaped(requestsAction(ctx))}"`
  return (
    `<details${isOpen || form.isSent ? ' open' : ''}><summary>${escaped(words[type])}</summary>` +
    `<p class="note">${escaped(until)}</p>${form.form(attributes, content)}</details>`
  )
}

/** What was filled in stays at its item, though another may be gone from the order by now. */
function numbered(items: readonly OfferedItem[], { fields }: Filled): number[] {
  const known = itemNumbers(fields)
  let next = Math.max(-1, ...known.values()) + 1
  return items.map(({ id }) => known.get(id) ?? next++)
}

const textMore = 'maxlength="2000" rows="3"'

function itemFields(
  ctx: Context,
  type: OfferedType['type'],
  item: OfferedItem,
  at: number,
  isOnly: boolean,
  { settings: { reasons }, variants, words, form }: Shown,
): string {
  // The only one is what the request is about.
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
    `<fieldset><legend>${escaped(itemName(item))}</legend>` +
    hidden(`items.${at}.orderItemId`, item.id) +
    form.input({
      ...field('quantity'),
      label: rendered(words.howMany, { most }),
      first: String(least),
      more: `type="number" inputmode="numeric" min="${least}" max="${most}" required`,
    }) +
    form.select({ ...field('reason'), label: words.reason }, choices) +
    form.textarea({ ...field('comment'), label: words.comment, more: textMore }) +
    (type === 'exchange'
      ? form.select(
          { ...field('exchangeForVariantId', 'for'), label: words.instead },
          wanted(ctx, item, variants, words),
        )
      : '') +
    '</fieldset>'
  )
}

/** The item's own product first; its own variant is no exchange. */
function wanted(ctx: Context, item: OfferedItem, variants: readonly Variant[], { choose }: Words): Choice[] {
  const others = variants.filter(({ variantId }) => variantId !== item.variantId)
  const own = others.filter(({ productId }) => productId === item.productId)
  const rest = others.filter(({ productId }) => productId !== item.productId)
  const choice = ({ name: product, variantName, unitPrice, currency }: Variant): string =>
    `${named(product, variantName)}: ${priceOf(ctx, Number(unitPrice), currency)}`
  return [
    { value: '', label: choose },
    ...[...own, ...rest].map((each) => ({ value: each.variantId, label: choice(each) })),
  ]
}

function methods(form: Filled, id: string, { returnMethods }: PublicSettings, { wayBack }: Words): string {
  const first = returnMethods[0]?.method
  return form.radios(
    { name: 'returnMethod', id, label: wayBack, more: 'required', ...(first ? { first } : {}) },
    returnMethods.map(({ method, label, instructions }) => ({ value: method, label, note: instructions })),
  )
}

const refunds = (form: Filled, { refundMethods }: PublicSettings, words: Words): string =>
  form.select(
    { name: 'refundMethod', label: words.paidBack },
    refundMethods.map((value) => ({ value, label: words.refunds[value] })),
  )

const itemName = ({ name, variantName }: OfferedItem): string => named(name, variantName)
