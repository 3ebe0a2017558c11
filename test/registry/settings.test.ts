/**
 * The contract of all settings resources: changes are merged, equal values change nothing, concurrent saves lose
 * nothing, a refusal leaves no trace, referenced files are kept, each change is published once. Settings are found
 * among the exports of all sections.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Settings } from '#runtime/database/settings'
import { getVolatileFields } from '#runtime/schema'
import { testApp, wholeRegistry } from '#test/support/app'
import { sender, type World, world } from './world.ts'

const app = await testApp({ publicUrl: 'https://api.example.com' })
const registry = await wholeRegistry()

// biome-ignore lint/suspicious/noExplicitAny: of whatever content
type AnySettings = Settings<any, any, any, any>
const root = join(import.meta.dirname, '../../operations')

async function findSettings(): Promise<Map<string, AnySettings>> {
  const found = new Map<string, AnySettings>()
  for (const file of await readdir(root, { recursive: true })) {
    if (!file.endsWith('.ts')) continue
    for (const each of Object.values(await import(join(root, file)))) {
      if ((each as AnySettings | null)?.kind !== 'settings') continue
      const settings = each as AnySettings
      // Two settings with one name would release each other's files.
      expect([settings.name, found.get(settings.name) ?? settings]).toEqual([settings.name, settings])
      found.set(settings.name, settings)
    }
  }
  return found
}
const all = await findSettings()

type Body = Record<string, unknown>
interface Tried {
  /** The operation that saves it. */
  operation: string
  /** Two independent changes, of the same object if there is one. */
  one: Body
  other: Body
  /** Bodies that fill and clear an optional field. */
  cleared?: (at: World) => { filled: Body; empty: Body }
  /** A valid change together with an invalid one. */
  refused: (at: World) => Body
  /** Bodies that add and remove a file reference or link; null: its texts are too short for a URL. */
  linked: ((url: string, at: World) => Promise<{ to: Body; away: Body }>) | null
  /** False: not visible to shoppers. */
  isPublished?: false
}
const nobody = '01900000-0000-7000-8000-000000000000'
const text = (field: string) => async (url: string) => ({
  to: { [field]: `See ${url}` },
  away: { [field]: 'See' },
})
const tier = { key: 'a', name: 'A', color: '#000000', minPurchases: 5, minAmount: null }

const tried: Record<string, Tried> = {
  'bar:free-shipping': {
    operation: 'post_free_shipping_bar_settings',
    one: { threshold: 100 },
    other: { successText: 'Free!' },
    cleared: () => ({ filled: { threshold: 90 }, empty: { threshold: null } }),
    refused: () => ({ successText: 'No', isEnabled: true, threshold: null }),
    linked: text('initialText'),
  },
  'bar:countdown': {
    operation: 'post_flash_countdown_bar_settings',
    one: { countdown: { text: 'Until {{countdown}}' } },
    other: { countdown: { durationMinutes: 30 } },
    cleared: () => ({ filled: { linkUrl: '/sale' }, empty: { linkUrl: null } }),
    refused: () => ({ rotationSeconds: 7, isEnabled: true }),
    linked: async (url) => ({ to: { linkUrl: url }, away: { linkUrl: null } }),
  },
  'bar:action': {
    operation: 'post_action_bar_settings',
    one: { text: 'Hello' },
    other: { isClosable: true },
    cleared: () => ({ filled: { text: 'Hi' }, empty: { text: null } }),
    refused: () => ({ text: 'No', isEnabled: true, actions: [] }),
    linked: async (target) => ({
      to: { actions: [{ type: 'link', label: 'Prices', target }] },
      away: { actions: [] },
    }),
  },
  'widget:wishlist': {
    operation: 'post_wishlist_settings',
    one: { addText: 'Keep it' },
    other: { showCount: true },
    refused: () => ({ addText: 'No', icon: 'skull' }),
    linked: text('consentText'),
  },
  'widget:looks': {
    operation: 'post_shop_the_look_settings',
    one: { title: 'Looks' },
    other: { buttonText: 'Buy' },
    refused: () => ({ title: 'No', homeSections: [{ key: 'a', title: 'A', lookIds: [nobody] }] }),
    async linked(url, { shop }) {
      const items = [
        { productId: '1001', variantId: '2001' },
        { productId: '1002', variantId: '2003' },
      ]
      const body = { name: 'Look', imageUrl: 'https://a.example/a.png', items }
      const { id } = (await shop.request('POST', '/shop-the-look/looks', { body })).body
      const section = { key: 'a', title: 'A', lookIds: [id] }
      return { to: { homeSections: [{ ...section, subtitle: url }] }, away: { homeSections: [section] } }
    },
  },
  'widget:badges': {
    operation: 'put_product_badges_settings',
    one: { featuredPrice: { method: 'Pix' } },
    other: { featuredPrice: { fontSize: 20 } },
    refused: () => ({ maxPerProduct: 2, featuredPrice: { excludedProductIds: ['9999'] } }),
    linked: async (url) => ({
      to: { featuredPrice: { text: url } },
      away: { featuredPrice: { text: '{{price}}' } },
    }),
  },
  'widget:installments': {
    operation: 'put_installments_settings',
    one: { tableTitle: 'In parts' },
    other: { fontSize: 20 },
    refused: () => ({ tableTitle: 'No', interestText: '{{nothing}}' }),
    linked: text('interestText'),
  },
  'widget:promotions': {
    operation: 'put_promotions_settings',
    one: { labelText: 'Look' },
    other: { fontSize: 20 },
    refused: () => ({ labelText: 'No', progressText: '{{nothing}}' }),
    linked: text('productPageText'),
  },
  'testimonials:settings': {
    operation: 'put_store_testimonials_settings',
    one: { itemsPerView: 2 },
    other: { autoplaySeconds: 9 },
    cleared: () => ({ filled: { title: 'They say' }, empty: { title: null } }),
    refused: () => ({ itemsPerView: 1, autoplaySeconds: 31 }),
    linked: async (title) => ({ to: { title }, away: { title: null } }),
  },
  'reviews:logo': {
    operation: 'post_product_reviews_settings',
    one: { email: { title: 'Tell us' } },
    other: { email: { buttonText: 'Tell' } },
    cleared: () => ({ filled: { email: { footerText: 'Bye' } }, empty: { email: { footerText: null } } }),
    refused: () => ({ isEnabled: true, message: { text: 'Hi {{firstName}}' } }),
    linked: async (logoUrl) => ({ to: { email: { logoUrl } }, away: { email: { logoUrl: null } } }),
  },
  'exchange-settings': {
    operation: 'post_product_exchanges_settings',
    one: { texts: { pageTitle: 'Returns' } },
    other: { texts: { buttonText: 'Ask' } },
    cleared: () => ({ filled: { returnWindowDays: 9 }, empty: { returnWindowDays: null } }),
    refused: () => ({ windowDays: 9, isEnabled: true, returnAddress: null }),
    linked: async (url) => ({ to: { texts: { intro: `See ${url}` } }, away: { texts: { intro: 'See' } } }),
    isPublished: false,
  },
  'stock:settings': {
    operation: 'post_stock_notifications_settings',
    one: { templateEmail: { subject: 'It is back' } },
    other: { templateEmail: { greeting: 'Hello' } },
    cleared: () => ({ filled: { modalTitle: 'Tell me' }, empty: { modalTitle: null } }),
    refused: () => ({
      allowPhones: false,
      templateEmail: { logo: 'https://api.example.com/files/public/none.png' },
    }),
    linked: async (logo) => ({ to: { templateEmail: { logo } }, away: { templateEmail: { logo: '' } } }),
  },
  'stock:counter': {
    operation: 'post_stock_counter_settings',
    one: { threshold: 5 },
    other: { fontSize: 20 },
    cleared: () => ({ filled: { lastUnitText: 'One' }, empty: { lastUnitText: null } }),
    refused: () => ({ fontSize: 30, isEnabled: true, scope: 'products', productIds: [] }),
    linked: text('text'),
  },
  'contact-form': {
    operation: 'put_contact_form_settings',
    one: { design: { borderRadius: 3 } },
    other: { design: { textColor: '#000000' } },
    cleared: ({ list }) => ({ filled: { crmListId: list }, empty: { crmListId: null } }),
    refused: () => ({ title: 'No', crmListId: nobody }),
    linked: text('description'),
  },
  'newsletter:settings': {
    operation: 'post_newsletter_settings',
    one: { texts: { title: 'Join' } },
    other: { texts: { description: 'All of it' } },
    cleared: ({ list }) => ({ filled: { contactListId: list }, empty: { contactListId: null } }),
    refused: () => ({ consentRequired: false, roulette: { enabled: true } }),
    linked: async (imageUrl) => ({ to: { design: { imageUrl } }, away: { design: { imageUrl: null } } }),
  },
  'inbox:tiers': {
    operation: 'put_inbox_tier_settings',
    one: { match: 'all' },
    other: { periodDays: 30 },
    cleared: () => ({ filled: { periodDays: 9 }, empty: { periodDays: null } }),
    refused: () => ({ periodDays: 8, tiers: [tier, { ...tier, key: 'b', name: 'B', minPurchases: 4 }] }),
    linked: null,
    isPublished: false,
  },
}

test('every settings resource and every settings write has a case', () => {
  expect([...all.keys()].sort()).toEqual(Object.keys(tried).sort())
  const operations = new Set(Object.values(tried).map(({ operation }) => operation))
  const written = registry.operations.filter(({ spec }) => !spec.readOnly && /settings$/.test(spec.path))
  expect(written.length).toBeGreaterThan(12)
  expect(written.map(({ id }) => id).filter((id) => !operations.has(id))).toEqual([])
})

async function prepareSettings(name: string) {
  const at = await world(app)
  const { operation, ...how } = tried[name]!
  const [of, settings] = [registry.byId(operation)!, all.get(name)!]
  const call = sender(at)
  const save = async (body: Body) => {
    await app.advance(1000)
    const { status, body: answer } = await call(of, body as never)
    return { status, body: status === 200 ? still(answer) : answer }
  }
  const ctx = await at.shop.context()
  /** The answer without volatile fields. */
  const still = (answer: object) => {
    const fields = JSON.parse(JSON.stringify(answer))
    for (const field of getVolatileFields(of.spec.answer.body!)) delete fields[field]
    return fields
  }
  const look = async () => {
    const [row] = await app.database.query<{ revision: number }>(
      'select storefront_revision as revision from stores where id = $1',
      [at.shop.id],
    )
    return { now: still(await settings.read(ctx)), revision: row!.revision }
  }
  const used = async (url: string) => {
    const rows = await app.database.query<{ owner: string }>(
      'select u.owner from file_uses u join files f on f.store_id = u.store_id and f.id = u.file_id where f.url = $1',
      [url],
    )
    return rows.map((row) => row.owner)
  }
  /** Saves a real change: published once, at its own instant. */
  const change = async (body: Body) => {
    const before = await look()
    const answer = await save(body)
    expect([name, answer.status, answer.body?.error?.message]).toEqual([name, 200, undefined])
    const after = await look()
    expect(answer.body).toEqual(after.now)
    expect(after.now).toMatchObject(body)
    expect(after.now.updatedAt).toBe(app.clock.now().toISOString())
    expect([name, after.revision - before.revision]).toEqual([name, how.isPublished === false ? 0 : 1])
    return after.now
  }
  return { at, how, save, look, used, change }
}

const names = Object.keys(tried)

test.each(names)('%s: changes are merged, equal values change nothing', async (name) => {
  const { at, how, save, look, change } = await prepareSettings(name)
  const first = await look()
  expect(first.now.updatedAt).toBeNull()
  expect((await save({})).status).toBe(200)
  expect(await look()).toEqual(first)
  const one = await change(how.one)
  const both = await change(how.other)
  expect(both).toMatchObject(how.one)
  const untouched = ({ updatedAt: _at, ...rest }: Body) =>
    Object.entries(rest).filter(([field]) => !(field in how.one) && !(field in how.other))
  expect(untouched(both)).toEqual(untouched(first.now))
  expect(Date.parse(both.updatedAt)).toBeGreaterThan(Date.parse(one.updatedAt))
  const before = await look()
  for (const again of [how.other, both, {}]) {
    const { status, body } = await save(again)
    expect([again, status, body]).toEqual([again, 200, before.now])
    expect(await look()).toEqual(before)
  }
  const { filled, empty } = how.cleared?.(at) ?? {}
  if (!filled || !empty) return
  await change(filled)
  await change(empty)
})

test.each(names)('%s: concurrent saves lose nothing', async (name) => {
  const { how, save, look } = await prepareSettings(name)
  const first = await look()
  const answers = await Promise.all([save(how.one), save(how.other), save(how.one)])
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  const { now, revision } = await look()
  expect(now).toMatchObject(how.one)
  expect(now).toMatchObject(how.other)
  expect(revision - first.revision).toBe(how.isPublished === false ? 0 : 2)
})

test.each(names)('%s: a refusal leaves no trace', async (name) => {
  const { at, how, save, look, change } = await prepareSettings(name)
  for (const before of [null, how.one]) {
    if (before) await change(before)
    const kept = await look()
    const { status } = await save(how.refused(at))
    expect([name, status]).toEqual([name, expect.toSatisfy((code) => code === 400 || code === 404)])
    expect(await look()).toEqual(kept)
  }
})

test.each(names)('%s: referenced and linked files are kept', async (name) => {
  const { at, how, used, change } = await prepareSettings(name)
  if (!how.linked) return
  const url = await at.file()
  const { to, away } = await how.linked(url, at)
  await change(to)
  expect(await used(url)).toEqual([name])
  await change(how.one)
  expect(await used(url)).toEqual([name])
  await change(away)
  expect(await used(url)).toEqual([])
})

/** Not visible to shoppers: for the team only. */
const exemptSettings = [/^inbox:tiers /]

test('every built-in text for shoppers is declared with its translations', () => {
  const faults: string[] = []
  // biome-ignore lint/suspicious/noExplicitAny: of whatever content
  const walk = (value: any, words: any, at: string): void => {
    if (exemptSettings.some((each) => each.test(`${at} `))) return
    if (typeof value === 'string') {
      const isText = /\p{L}/u.test(value.replace(/\{\{.*?\}\}/g, '')) && !/^#?[a-z0-9-]+$/.test(value)
      if (isText && words?.en !== value) faults.push(`${at}: ${value}`)
    } else if (Array.isArray(value)) {
      for (const item of value) walk(item, typeof words === 'function' ? words(item) : undefined, `${at} []`)
    } else if (value && typeof value === 'object') {
      for (const [key, each] of Object.entries(value)) walk(each, words?.[key], `${at} ${key}`)
    }
  }
  for (const { name, defaults, words } of all.values()) walk(defaults, words, name)
  expect(faults).toEqual([])
})
