/** The storefront's page for a person: an order is looked up, then its items are asked for. Plain forms, no scripts. */
import { escaped } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { renderText } from '#runtime/values/variables'
import { said, spoken } from '#runtime/values/wording'
import { type PublicSettings, publicSettings } from '../settings/public.ts'
import type { ExchangeContent } from '../settings/schema.ts'
import { faultWords } from './eligibility.ts'
import type { LookupAnswer } from './lookup.ts'
import { faultOf, type Offer, type OfferedItem, type OfferedType } from './offer.ts'
import {
  commonWords,
  dayOf,
  exchangePage,
  named,
  pagesBase,
  paragraphs,
  policyOf,
  priceOf,
} from './page-words.ts'
import type { Variant } from './variants.ts'

const pageWords = {
  orderNumber: { en: 'Order number', 'pt-BR': 'Número do pedido', es: 'Número de pedido' },
  contact: {
    en: 'Email or phone of the order',
    'pt-BR': 'E-mail ou telefone do pedido',
    es: 'Correo o teléfono del pedido',
  },
  find: { en: 'Find my order', 'pt-BR': 'Encontrar meu pedido', es: 'Buscar mi pedido' },
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
const filled = (text: string, values: Record<string, string | number>): string =>
  renderText(text, Object.fromEntries(Object.entries(values).map(([name, each]) => [name, String(each)])))
    .text

const trap = '<div hidden><input name="website" tabindex="-1" autocomplete="off"></div>'

export function lookupPage(ctx: Context, { texts }: ExchangeContent): Response {
  const words = wordsOf(ctx)
  const body =
    paragraphs(texts.intro) +
    `<form method="post" action="${escaped(`${pagesBase(ctx)}/lookup`)}">${trap}` +
    `<label for="orderNumber">${escaped(words.orderNumber)}</label><input id="orderNumber" name="orderNumber" required maxlength="60" autocomplete="off" autocapitalize="characters" spellcheck="false">` +
    `<label for="contact">${escaped(words.contact)}</label><input id="contact" name="contact" required maxlength="254" autocomplete="email" inputmode="email" autocapitalize="none" spellcheck="false">` +
    `<button>${escaped(words.find)}</button></form>` +
    policyOf(ctx, texts.policy)
  return exchangePage(ctx, texts.pageTitle, body)
}

/** What of the order can be asked for: a form for each type. `variants`: to choose from on an exchange. */
export function orderPage(
  ctx: Context,
  settings: ExchangeContent,
  offer: Offer,
  { sessionToken }: LookupAnswer,
  variants: readonly Variant[],
): Response {
  const words = wordsOf(ctx)
  const lines = offer.items.map((item) => {
    const fault = faultOf(offer, item)
    const state = fault
      ? said(faultWords(fault, settings.texts.outsideWindowMessage), ctx.store.locale)
      : filled(words.left, { left: item.availableQuantity, quantity: item.quantity })
    return `<li>${escaped(`${itemName(item)}: ${state}`)}</li>`
  })
  const askable = offer.items.filter((item) => item.fault === null)
  const open = offer.types.filter(({ fault }) => fault === null)
  const shown = {
    sessionToken,
    settings: publicSettings(settings),
    isOnly: open.length === 1,
    variants,
    words,
  }
  const sections = askable.length === 0 ? [] : open.map((type) => section(ctx, type, askable, shown))
  const body =
    paragraphs(settings.texts.intro) +
    `<ul>${lines.join('')}</ul>${sections.join('')}` +
    (sections.length === 0 ? `<p role="status">${escaped(words.nothing)}</p>` : '') +
    policyOf(ctx, settings.texts.policy)
  return exchangePage(ctx, filled(words.order, { number: offer.order.number }), body)
}

interface Shown {
  sessionToken: string
  settings: PublicSettings
  isOnly: boolean
  variants: readonly Variant[]
  words: Words
}

function section(
  ctx: Context,
  { type, windowEndsAt, isOutside }: OfferedType,
  items: readonly OfferedItem[],
  { sessionToken, settings, isOnly, variants, words }: Shown,
): string {
  const { texts, conditions, maxPhotos } = settings
  const until = isOutside
    ? texts.outsideWindowMessage
    : filled(words.until, { day: dayOf(ctx, windowEndsAt) })
  const fields = items.map((item, at) =>
    itemFields(ctx, type, item, at, { settings, isOnly: items.length === 1, variants, words }),
  )
  return (
    `<details${isOnly ? ' open' : ''}><summary>${escaped(words[type])}</summary>` +
    `<p class="note">${escaped(until)}</p>` +
    `<form method="post" enctype="multipart/form-data" action="${escaped(`${pagesBase(ctx)}/requests`)}">${trap}` +
    `<input type="hidden" name="sessionToken" value="${escaped(sessionToken)}">` +
    `<input type="hidden" name="type" value="${type}">${fields.join('')}` +
    (maxPhotos === 0 ? '' : photoField(type, maxPhotos, words)) +
    textarea(`${type}-comment`, 'comment', words.anythingElse) +
    methods(type, settings, words) +
    (type === 'return' ? refunds(settings, words) : '') +
    (conditions.length === 0
      ? ''
      : `<h2>${escaped(words.conditions)}</h2><ul>${conditions.map((each) => `<li>${escaped(each)}</li>`).join('')}</ul>`) +
    `<label class="choice"><input type="checkbox" name="acceptedConditions" value="true" required> ${escaped(words.accept)}</label>` +
    `<button>${escaped(texts.buttonText)}</button></form></details>`
  )
}

function itemFields(
  ctx: Context,
  type: OfferedType['type'],
  item: OfferedItem,
  at: number,
  { settings: { reasons }, isOnly, variants, words }: Omit<Shown, 'sessionToken'>,
): string {
  // The only one is what the request is about.
  const least = isOnly ? 1 : 0
  const name = (field: string): string => `items.${at}.${field}`
  const id = (field: string): string => `${type}-${at}-${field}`
  const choices = reasons
    .filter(({ types }) => types.includes(type))
    .map(({ key, label, requiresPhoto, requiresComment }) => {
      const needs = requiresPhoto
        ? words[requiresComment ? 'withBoth' : 'withPhoto']
        : requiresComment && words.withComment
      return option(key, needs ? `${label} (${needs})` : label)
    })
  return (
    `<fieldset><legend>${escaped(itemName(item))}</legend>` +
    `<input type="hidden" name="${name('orderItemId')}" value="${escaped(item.id)}">` +
    `<label for="${id('quantity')}">${escaped(filled(words.howMany, { most: item.availableQuantity }))}</label>` +
    `<input id="${id('quantity')}" name="${name('quantity')}" type="number" inputmode="numeric" min="${least}" max="${item.availableQuantity}" value="${least}" required>` +
    `<label for="${id('reason')}">${escaped(words.reason)}</label><select id="${id('reason')}" name="${name('reason')}">${choices.join('')}</select>` +
    textarea(id('comment'), name('comment'), words.comment) +
    (type === 'exchange' ? wanted(ctx, id('for'), name('exchangeForVariantId'), item, variants, words) : '') +
    '</fieldset>'
  )
}

/** The item's own product first; its own variant is no exchange. */
function wanted(
  ctx: Context,
  id: string,
  name: string,
  item: OfferedItem,
  variants: readonly Variant[],
  { instead, choose }: Words,
): string {
  const others = variants.filter(({ variantId }) => variantId !== item.variantId)
  const own = others.filter(({ productId }) => productId === item.productId)
  const rest = others.filter(({ productId }) => productId !== item.productId)
  const choice = ({ name: product, variantName, unitPrice, currency }: Variant): string =>
    `${named(product, variantName)}: ${priceOf(ctx, Number(unitPrice), currency)}`
  const options = [...own, ...rest].map((each) => option(each.variantId, choice(each)))
  return (
    `<label for="${id}">${escaped(instead)}</label>` +
    `<select id="${id}" name="${name}">${option('', choose)}${options.join('')}</select>`
  )
}

const photoField = (type: string, atMost: number, { photos }: Words): string =>
  `<label for="${type}-photos">${escaped(filled(photos, { most: atMost }))}</label>` +
  `<input id="${type}-photos" name="photos" type="file" multiple accept="image/jpeg,image/png,image/webp,image/heic">`

function methods(type: string, { returnMethods }: PublicSettings, { wayBack }: Words): string {
  const choices = returnMethods.map(
    ({ method, label, instructions }, at) =>
      `<label class="choice"><input type="radio" name="returnMethod" value="${method}" required${at === 0 ? ' checked' : ''}>` +
      `<span>${escaped(label)}${instructions ? `<br><span class="note lines">${escaped(instructions)}</span>` : ''}</span></label>`,
  )
  return `<fieldset><legend>${escaped(wayBack)}</legend><div role="radiogroup" id="${type}-methods">${choices.join('')}</div></fieldset>`
}

const refunds = ({ refundMethods }: PublicSettings, words: Words): string =>
  `<label for="refundMethod">${escaped(words.paidBack)}</label><select id="refundMethod" name="refundMethod">` +
  `${refundMethods.map((method) => option(method, words.refunds[method])).join('')}</select>`

const textarea = (id: string, name: string, label: string): string =>
  `<label for="${id}">${escaped(label)}</label><textarea id="${id}" name="${name}" maxlength="2000" rows="3"></textarea>`

const option = (value: string, label: string): string =>
  `<option value="${escaped(value)}">${escaped(label)}</option>`

const itemName = ({ name, variantName }: OfferedItem): string => named(name, variantName)
