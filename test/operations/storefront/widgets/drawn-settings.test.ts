/** Every setting of a widget has an effect: each field sent to shoppers' pages is read by its elements. */
import { readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { testApp } from '#test/support/app'
import { everythingOn } from '#test/support/every-element'
import { connectedStore } from '#test/support/platform'
import { visit } from '#test/support/storefront'

const app = await testApp()

/** Settings that the server has already applied, and those that only name or explain others. */
const applied: Record<string, readonly string[]> = {
  freeShippingBar: ['locale'],
  // A countdown that has not started is not sent.
  countdownBar: ['startsAt'],
  stickers: ['categoryIds', 'productIds', 'excludedProductIds', 'condition', 'conditionValue'],
  badges: [
    ...['maxPerProduct', 'showInProductList', 'categoryIds', 'productIds', 'condition', 'conditionValue'],
    'applyToSalePrice',
  ],
  looks: ['isEnabled', 'unavailableItems'],
  sizeGuide: ['id'],
  wishlist: ['showCount'],
  promotions: ['isEnabled', 'categoryIds'],
  bundles: ['showOn'],
  // For the checkout: a gift is earned whatever else is in the cart.
  cartGifts: ['url', 'coupons', 'promotions'],
  installments: ['isEnabled', 'ruleId'],
  reviews: ['perPage', 'nameFormat', 'showVerifiedBadge', 'showImages'],
  testimonials: ['showRating', 'showPhoto'],
  // Comes in the form's answer; the other is an older name of `soldOutVariants`.
  stockAlerts: ['successMessage', 'soldOutVariantIds'],
}
/** Sent under another widget's key, for the same element. */
const beside: Record<string, string> = { newsletterRules: 'newsletter', contactFormSettings: 'contactForm' }

/** The text of an element and its own modules, without what all elements share. */
function readModuleText(path: string, seen = new Set<string>()): string {
  if (seen.has(path) || ['elements.js', 'hooks.js', 'preact.js'].includes(basename(path))) return ''
  seen.add(path)
  const text = readFileSync(path, 'utf8')
  const others = [...text.matchAll(/\b(?:from\s*|import\()'(\.\.?\/[^']+)'/g)]
  return text + others.map(([, other]) => readModuleText(join(path, '..', other!), seen)).join('')
}

const texts = new Map<string, string>()
for (const { widget, module } of app.services.extensions.elements)
  texts.set(widget, (texts.get(widget) ?? '') + readModuleText(fileURLToPath(module)))
/** `isFor` and `mount` of `elements.js` read these for all elements. */
const ofAll = new Set(['devices', 'pages', 'pageMode', 'pagePatterns', 'customCss'])

function collectKeys(value: unknown, found = new Set<string>()): Set<string> {
  if (Array.isArray(value)) for (const each of value) collectKeys(each, found)
  else if (typeof value === 'object' && value !== null) {
    for (const [key, each] of Object.entries(value)) {
      found.add(key)
      collectKeys(each, found)
    }
  }
  return found
}

test('every field of every widget is read by its elements, or already applied', async () => {
  const shop = await connectedStore(app, { locale: 'pt-BR' })
  await everythingOn(app, shop)
  const unread = new Set<string>()
  const met = new Set<string>()
  for (const query of ['page=home&cards=1001,1003', 'page=product&productId=1001&cards=1003', 'page=cart']) {
    const { status, body } = await visit(shop, `/widgets?${query}`)
    expect(status).toBe(200)
    for (const [key, value] of Object.entries(body)) {
      if (key === 'cards') continue
      const widget = beside[key] ?? key
      met.add(widget)
      for (const field of collectKeys(value)) {
        if (ofAll.has(field) || applied[key]?.includes(field)) continue
        if (!new RegExp(`\\b${field}\\b`).test(texts.get(widget) ?? '')) unread.add(`${key}: ${field}`)
      }
    }
  }
  expect([...unread]).toEqual([])
  expect([...texts.keys()].filter((widget) => !met.has(widget))).toEqual([])
})
