/**
 * The shopper's language: in a store with everything on and only default texts, shoppers in Brazil and Mexico see no
 * English, and every element has all its words in every language.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { alertTypes } from '#operations/bars/alerts/types'
import { putProducts } from '#operations/store/ecommerce/sandbox-catalog'
import { buildModules } from '#operations/storefront/script/modules'
import { testApp } from '#test/support/app'
import { whenFileEnds } from '#test/support/closing'
import { post } from '#test/support/numbers'
import { type ConnectedShop, connectedStore } from '#test/support/platform'
import { sendEvents, visit } from '#test/support/storefront'
import { isFullSuite } from '#test/support/suite'

const app = await testApp({ storefrontReadsIp: 10_000 })
const extensions = app.services.extensions

/** Prefix of the test's own texts, as a merchant would write them. */
const own = '¶'
const picture = 'https://cdn.example.com/a.png'

async function everythingOn(locale: string): Promise<ConnectedShop> {
  const shop = await connectedStore(app, { locale })
  const save = async (method: string, path: string, body: object) => {
    const answer = await shop.request(method, path, { body })
    expect([path, answer.body?.error?.message, answer.status < 300]).toEqual([path, undefined, true])
    return answer.body
  }
  const on = { isEnabled: true }
  await save('POST', '/free-shipping-bar/settings', { ...on, threshold: 199 })
  await save('POST', '/flash-countdown-bar/settings', { ...on, countdown: { ...on, type: 'evergreen' } })
  await save('POST', '/action-bar/settings', { ...on, actions: [{ type: 'scroll-top', label: own }] })
  for (const alertType of alertTypes)
    await save('POST', '/fomo-alerts/create', { alertType, ...on, minCount: 1, nameFormat: 'hidden' })
  await save('POST', '/newsletter/settings', on)
  await save('PUT', '/contact-form/settings', on)
  await save('POST', '/messaging-button', { ...on, phone: '+5511988887777' })
  const items = [{ productId: '1001' }, { productId: '1002' }]
  // A sold-out product breaks a look of two.
  const bule = { id: '1003', name: 'Bule', variants: [{ id: '2004', sku: 'BUL-1', price: 80, stock: 50 }] }
  await putProducts(shop.platform, [bule])
  const pair = [{ productId: '1001' }, { productId: '1003' }]
  const look = await save('POST', '/shop-the-look/looks', { name: own, imageUrl: picture, items: pair })
  const section = { key: 'a', title: own, lookIds: [look.id] }
  await save('POST', '/shop-the-look/settings', {
    ...on,
    unavailableItems: 'show-sold-out',
    homeSections: [section],
  })
  const videos = [{ videoUrl: picture }]
  await save('PUT', '/product-video-slider', { productId: '1001', videos })
  const tables = [{ columns: [own, own], rows: [['1', '2']] }]
  await save('POST', '/size-guides', { name: own, tables })
  await save('PUT', '/product-badges/settings', { featuredPrice: { ...on, showInProductList: true } })
  await save('POST', '/product-badges', { name: own, text: own })
  await save('POST', '/product-stickers', { name: own, kind: 'preset', preset: 'new' })
  const design = { beforeImageUrl: picture, afterImageUrl: picture }
  const block = await save('POST', '/product-content-blocks', { name: own, type: 'before-after', design })
  await save('PATCH', '/product-content-blocks', { id: block.id, isActive: true })
  await save('POST', '/wishlist/settings', on)
  const rule = { name: own, maxInstallments: 6, interestFreeInstallments: 3, monthlyInterestRate: 2 }
  await save('POST', '/installments', rule)
  await save('POST', '/promotions', { name: own, buyQuantity: 3, payQuantity: 2 })
  const bundle = { name: own, items, discountType: 'percentage', discountValue: 10 }
  await save('POST', '/bundles', bundle)
  await save('POST', '/cart-gifts', {
    name: own,
    minAmount: 100,
    gift: { productId: '1001', variantId: '2001' },
  })
  await save('POST', '/store-testimonials', { authorName: 'ana@example.com', text: own })
  await save('PUT', '/store-testimonials/settings', on)
  await save('POST', '/product-reviews/settings', {
    ...on,
    autoPublish: { mode: 'all', verifiedOnly: false },
  })
  await save('POST', '/stock-notifications/settings', { ...on, buttonShowInProductList: true })
  await save('POST', '/stock-counter/settings', { ...on, showInProductList: true })
  await shop.sell({ items: [{ variantId: '2003', quantity: 1 }] })
  const review = {
    productId: '1001',
    rating: 5,
    text: own,
    name: 'ana@example.com',
    email: 'ana@example.com',
  }
  expect((await visit(shop, '/reviews', { body: review, ip: shop.id })).status).toBe(201)
  await sendEvents(shop, [
    { type: 'product-view', widget: 'page', productId: '1001' },
    { type: 'cart-add', widget: 'page', productId: '1001' },
  ])
  for (const [variantId, stock] of [
    ['2001', 1],
    ['2002', 4],
    ['2003', 0],
  ])
    await post(app, `/sandbox/api/ecommerce/${shop.id}/variants/${variantId}/stock`, { stock })
  await app.drainJobs()
  return shop
}

const paths = [
  '/widgets?page=home',
  '/widgets?page=category&cards=1001,1002',
  '/widgets?page=product&productId=1001',
  '/widgets?page=product&productId=1002',
  '/widgets?page=cart',
  '/newsletter',
  '/contact-form',
  '/fomo-feed',
  '/fomo-feed?productId=1001',
  '/products/1001/reviews',
]

/** All texts in the answers for a shopper's browser, by their path. */
async function readTexts(shop: ConnectedShop): Promise<{ texts: Map<string, string>; widgets: Set<string> }> {
  const texts = new Map<string, string>()
  const widgets = new Set<string>()
  const walk = (value: unknown, at: string): void => {
    if (typeof value === 'string') texts.set(at, value)
    else if (value && typeof value === 'object')
      for (const [key, each] of Object.entries(value)) walk(each, `${at} ${key}`)
  }
  for (const path of paths) {
    const { status, body } = await visit(shop, path)
    expect([path, status]).toEqual([path, 200])
    if (path.startsWith('/widgets')) for (const key of Object.keys(body)) widgets.add(key)
    walk(body, path)
  }
  const wait = { variantId: '2003', email: 'bia@example.com', source: 'product-page' }
  walk((await visit(shop, '/stock-notifications', { body: wait })).body, 'waits')
  walk((await visit(shop, '/stock-notifications', { body: wait })).body, 'waits again')
  walk((await visit(shop, '/stock-notifications', { body: { ...wait, email: 'b' } })).body, 'waits wrongly')
  return { texts, widgets }
}

/** Excludes enum values, colours, lengths, addresses, ids, instants and the test's own texts. */
const isText = (text: string): boolean =>
  /\p{L}/u.test(text) &&
  !/^[a-z0-9-]+$/.test(text) &&
  !/^(#|https?:|\/)/.test(text) &&
  !/^\d{4}-\d\d-\d\dT/.test(text) &&
  !text.includes(own)

/** The same in every language: names, codes and symbols, form tokens, and field types. */
const sharedTexts = [
  /^(Caneca|Avental|Bule|(CAN|AVE|BUL)-\d)$/,
  /^(BRL|America\/Sao_Paulo|Shop \d+|Phone|conflict|bad_request|above_buy_button)$/,
  /^\{\{label\}\}$/,
  /^[\w-]+\.[\w.-]+$/,
]

const english = await everythingOn('en-US').then(readTexts)

test('each existing widget was requested', () => {
  const known = Object.keys(extensions.widgets)
  expect(known.length).toBeGreaterThanOrEqual(22)
  expect(known.filter((key) => !english.widgets.has(key))).toEqual([])
  const texts = [...english.texts.values()]
  for (const text of [
    'Someone',
    'Join our newsletter',
    'Size guide',
    'Before',
    'Last one!',
    '{{installments}}x of {{amount}}',
  ])
    expect(texts, text).toContainEqual(expect.stringContaining(text))
})

test.runIf(isFullSuite).each(['pt-BR', 'es-MX'])(
  'no built-in text is English for shoppers of %s',
  async (locale) => {
    const { texts } = await everythingOn(locale).then(readTexts)
    const same = [...texts]
      .filter(([at, text]) => english.texts.get(at) === text && isText(text))
      .filter(([, text]) => !sharedTexts.some((each) => each.test(text)))
    expect(same).toEqual([])
  },
)

test('a merchant reads the texts as pages show them, and his own texts are shown as written', async () => {
  const shop = await everythingOn('pt-BR')
  const read = (path: string) => shop.request('GET', path).then(({ body }) => body)
  expect((await read('/wishlist/settings')).addText).toBe('Add to wishlist')
  expect((await read('/contact-form/settings')).fields[0].label).toBe('Name')
  expect((await read('/fomo-alerts/low-stock')).text).toBe('Only {{stock}} left of {{productName}}')
  await shop.request('POST', '/wishlist/settings', { body: { addText: 'Quero!' } })
  const { wishlist } = (await visit(shop, '/widgets?page=home')).body
  expect(wishlist.settings).toMatchObject({ addText: 'Quero!', addedText: 'Na sua lista de desejos' })
})

/** Words of an element that are not settings exist in each language. */
const languages = ['en', 'pt-BR', 'es']
/** Words that two languages share. */
const shared = new Set(['No', 'Total', 'Video', 'Videos'])

test('every element has all its words in every language', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'elements-'))
  whenFileEnds(() => rm(folder, { recursive: true }))
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  const { files } = buildModules(extensions)
  for (const [name, { text }] of files) await writeFile(join(folder, name), text)
  // Elements, and the parts of them that are loaded when a shopper opens them.
  const names = [...files].flatMap(([name, { text }]) => (/^export default \{/m.test(text) ? [name] : []))
  expect(names.length).toBeGreaterThan(20)
  expect(names).toContain('review-form.js')
  const faults: string[] = []
  for (const name of names) {
    const { default: element } = await import(join(folder, name))
    const texts: Record<string, Record<string, string>> = element.texts ?? {}
    if (Object.keys(texts).length === 0) continue
    const keys = Object.keys(texts.en!).sort()
    for (const language of languages) {
      const its = texts[language] ?? {}
      expect([name, language, Object.keys(its).sort()]).toEqual([name, language, keys])
      for (const key of keys) {
        if (!its[key]) faults.push(`${name}: ${key} says nothing in ${language}`)
        const isSame = language !== 'en' && its[key] === texts.en![key]
        const words = its[key]!.replace(/\{\{.*?\}\}|:/g, '').trim()
        if (isSame && /\p{L}/u.test(words) && !shared.has(words)) faults.push(`${name}: ${key} is ${words}`)
      }
      const variables = (text: string) => [...text.matchAll(/\{\{\s*(\w+)/g)].map(([, each]) => each).sort()
      for (const key of keys)
        if (String(variables(its[key] ?? '')) !== String(variables(texts.en![key]!)))
          faults.push(`${name}: ${key} has other variables in ${language}`)
    }
  }
  expect(faults).toEqual([])
})
