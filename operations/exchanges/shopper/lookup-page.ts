/** The storefront's page for a person: an order is looked up, then its items are asked for. Plain forms, no scripts. */
import { escaped } from '#operations/store/door'
import type { Context } from '#runtime/context'
import { type PublicSettings, publicSettings } from '../settings/public.ts'
import type { ExchangeContent } from '../settings/schema.ts'
import { faultWords } from './eligibility.ts'
import type { LookupAnswer } from './lookup.ts'
import { faultOf, type Offer, type OfferedItem, type OfferedType } from './offer.ts'
import { dayOf, named, pagesBase, paragraphs, priceOf, refundWords, shopperPage } from './page-words.ts'
import type { Variant } from './variants.ts'

const trap = '<div hidden><input name="website" tabindex="-1" autocomplete="off"></div>'

export function lookupPage(ctx: Context, { texts }: ExchangeContent): Response {
  const body =
    paragraphs(texts.intro) +
    `<form method="post" action="${escaped(`${pagesBase(ctx)}/lookup`)}">${trap}` +
    '<label for="orderNumber">Order number</label><input id="orderNumber" name="orderNumber" required maxlength="60" autocomplete="off">' +
    '<label for="contact">Email or phone of the order</label><input id="contact" name="contact" required maxlength="254" autocomplete="email">' +
    '<button>Find my order</button></form>' +
    policy(texts.policy)
  return shopperPage(texts.pageTitle, body)
}

const policy = (text: string | null): string =>
  text ? `<details><summary>The store's policy</summary>${paragraphs(text)}</details>` : ''

/** What of the order can be asked for: a form for each type. `variants`: to choose from on an exchange. */
export function orderPage(
  ctx: Context,
  settings: ExchangeContent,
  offer: Offer,
  { sessionToken }: LookupAnswer,
  variants: readonly Variant[],
): Response {
  const { outsideWindowMessage } = settings.texts
  const lines = offer.items.map((item) => {
    const fault = faultOf(offer, item)
    const state = fault
      ? faultWords(fault, outsideWindowMessage)
      : `${item.availableQuantity} of ${item.quantity} can be asked for`
    return `<li>${escaped(`${itemName(item)}: ${state}`)}</li>`
  })
  const askable = offer.items.filter((item) => item.fault === null)
  const open = offer.types.filter(({ fault }) => fault === null)
  const shown = { sessionToken, settings: publicSettings(settings), isOnly: open.length === 1, variants }
  const sections = askable.length === 0 ? [] : open.map((type) => section(ctx, type, askable, shown))
  const body =
    paragraphs(settings.texts.intro) +
    `<ul>${lines.join('')}</ul>${sections.join('')}` +
    (sections.length === 0 ? '<p role="status">Nothing of this order can be asked for now.</p>' : '') +
    policy(settings.texts.policy)
  return shopperPage(`Order ${offer.order.number}`, body)
}

interface Shown {
  sessionToken: string
  settings: PublicSettings
  isOnly: boolean
  variants: readonly Variant[]
}

const typeWords = { exchange: 'Exchange items', return: 'Return items' } as const

function section(
  ctx: Context,
  { type, windowEndsAt, isOutside }: OfferedType,
  items: readonly OfferedItem[],
  { sessionToken, settings, isOnly, variants }: Shown,
): string {
  const { texts, conditions, maxPhotos } = settings
  const until = isOutside ? texts.outsideWindowMessage : `Until ${dayOf(ctx, windowEndsAt)}.`
  const fields = items.map((item, at) => itemFields(ctx, type, item, at, settings, variants))
  return (
    `<details${isOnly ? ' open' : ''}><summary>${typeWords[type]}</summary>` +
    `<p class="note">${escaped(until)}</p>` +
    `<form method="post" enctype="multipart/form-data" action="${escaped(`${pagesBase(ctx)}/requests`)}">${trap}` +
    `<input type="hidden" name="sessionToken" value="${escaped(sessionToken)}">` +
    `<input type="hidden" name="type" value="${type}">${fields.join('')}` +
    (maxPhotos === 0 ? '' : photoField(type, maxPhotos)) +
    textarea(`${type}-comment`, 'comment', 'Anything else we should know') +
    methods(type, settings) +
    (type === 'return' ? refunds(settings) : '') +
    (conditions.length === 0
      ? ''
      : `<h3>Conditions</h3><ul>${conditions.map((each) => `<li>${escaped(each)}</li>`).join('')}</ul>`) +
    `<label class="choice"><input type="checkbox" name="acceptedConditions" value="true" required> I accept the conditions</label>` +
    `<button>${escaped(texts.buttonText)}</button></form></details>`
  )
}

function itemFields(
  ctx: Context,
  type: OfferedType['type'],
  item: OfferedItem,
  at: number,
  { reasons }: PublicSettings,
  variants: readonly Variant[],
): string {
  const name = (field: string): string => `items.${at}.${field}`
  const id = (field: string): string => `${type}-${at}-${field}`
  const choices = reasons
    .filter(({ types }) => types.includes(type))
    .map(({ key, label, requiresPhoto, requiresComment }) => {
      const needs = [requiresPhoto ? 'photo' : '', requiresComment ? 'comment' : ''].filter(Boolean)
      return option(key, needs.length > 0 ? `${label} (with a ${needs.join(' and a ')})` : label)
    })
  return (
    `<fieldset><legend>${escaped(itemName(item))}</legend>` +
    `<input type="hidden" name="${name('orderItemId')}" value="${escaped(item.id)}">` +
    `<label for="${id('quantity')}">How many (up to ${item.availableQuantity})</label>` +
    `<input id="${id('quantity')}" name="${name('quantity')}" type="number" min="0" max="${item.availableQuantity}" value="0" required>` +
    `<label for="${id('reason')}">Reason</label><select id="${id('reason')}" name="${name('reason')}">${choices.join('')}</select>` +
    textarea(id('comment'), name('comment'), 'Comment') +
    (type === 'exchange' ? wanted(ctx, id('for'), name('exchangeForVariantId'), item, variants) : '') +
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
): string {
  const others = variants.filter(({ variantId }) => variantId !== item.variantId)
  const own = others.filter(({ productId }) => productId === item.productId)
  const rest = others.filter(({ productId }) => productId !== item.productId)
  const words = ({ name: product, variantName, unitPrice, currency }: Variant): string =>
    `${named(product, variantName)}: ${priceOf(ctx, Number(unitPrice), currency)}`
  const options = [...own, ...rest].map((each) => option(each.variantId, words(each)))
  return (
    `<label for="${id}">What you want instead</label>` +
    `<select id="${id}" name="${name}">${option('', 'Choose')}${options.join('')}</select>`
  )
}

const photoField = (type: string, atMost: number): string =>
  `<label for="${type}-photos">Photos (up to ${atMost})</label>` +
  `<input id="${type}-photos" name="photos" type="file" multiple accept="image/jpeg,image/png,image/webp,image/heic">`

function methods(type: string, { returnMethods }: PublicSettings): string {
  const choices = returnMethods.map(
    ({ method, label, instructions }, at) =>
      `<label class="choice"><input type="radio" name="returnMethod" value="${method}" required${at === 0 ? ' checked' : ''}>` +
      `<span>${escaped(label)}${instructions ? `<br><span class="note lines">${escaped(instructions)}</span>` : ''}</span></label>`,
  )
  return `<fieldset><legend>How it comes back</legend><div role="radiogroup" id="${type}-methods">${choices.join('')}</div></fieldset>`
}

const refunds = ({ refundMethods }: PublicSettings): string =>
  '<label for="refundMethod">How you are paid back</label><select id="refundMethod" name="refundMethod">' +
  `${refundMethods.map((method) => option(method, refundWords[method])).join('')}</select>`

const textarea = (id: string, name: string, label: string): string =>
  `<label for="${id}">${label}</label><textarea id="${id}" name="${name}" maxlength="2000" rows="3"></textarea>`

const option = (value: string, label: string): string =>
  `<option value="${escaped(value)}">${escaped(label)}</option>`

const itemName = ({ name, variantName }: OfferedItem): string => named(name, variantName)
