/**
 * Every page that shoppers open, in stores of three languages: what it shows and what it refuses is a page in the
 * store's language, with one main landmark and one heading, and none of its words is left in English.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testApp, wholeRegistry } from '#test/support/app'
import { isFullSuite } from '#test/support/suite'
import { cases, expectPage, nameOf, send, world } from './shopper-pages.ts'

const app = await testApp({
  storefrontReadsIp: 10_000,
  storefrontWritesIp: 10_000,
  storefrontAcceptedIp: 10_000,
})
const { pages } = await wholeRegistry()
const forPeople = pages.filter((each) => each.forPeople)
/** Words that are the same in another of the languages. */
const shared = ['has', 'link', 'newsletter', 'use']

const worlds = [await world(app, 'en-US'), await world(app, 'pt-BR'), await world(app, 'es-MX')]

test('each page that shoppers open is tried, and no other answers them with a page', async () => {
  expect(forPeople.map(nameOf).sort()).toEqual(Object.keys(cases).sort())
  const scripts = pages.filter(({ path, forPeople: its }) => path.startsWith('/storefront/') && !its)
  expect(scripts.length).toBeGreaterThan(10)
  for (const each of scripts)
    for (const publicId of [worlds[0]!.shop.publicId, 'nobody']) {
      const path = each.path.replace(':publicId', publicId).replace(/:\w+/g, '1001')
      const { headers } = await send(app, publicId, path, each.method === 'POST' ? {} : undefined)
      expect([nameOf(each), headers.get('content-type')?.startsWith('text/html') ?? false]).toEqual([
        nameOf(each),
        false,
      ])
    }
})

test.runIf(isFullSuite).each(Object.keys(cases))(
  '%s: nothing is said in English to who speaks another language',
  async (name) => {
    let english = new Map<string, string>()
    // Where days pass, the stores are those of the test alone.
    for (const kept of worlds) {
      const { locale } = kept
      const at = name.includes('/reviews/') ? await world(app, locale) : kept
      at.words.clear()
      await cases[name]!(at)
      if (locale === 'en-US') english = new Map(at.words)
      else {
        const left = [...at.words].filter(([word]) => english.has(word) && !shared.includes(word))
        expect([locale, left]).toEqual([locale, []])
      }
    }
    expect(english.size).toBeGreaterThan(3)
  },
)

/** Whose link has a token. */
const isLink = ({ path }: { path: string }): boolean => /Token|unsubscribe|confirm|form|preview/.test(path)
const addressOf = ({ path }: { path: string }): string =>
  path.replace('/storefront/:publicId', '').replace(/:\w+/g, 'nowhere')
const fieldsOf = ({ method, path }: { method: string; path: string }): Record<string, string> | undefined =>
  method === 'GET' ? undefined : path.includes('Token') ? { trackingCode: '1' } : { token: 'bia' }

test('a link that leads nowhere, one without its token, and a store that is not there are pages', async () => {
  for (const each of forPeople) {
    for (const { locale, see, send: visit } of worlds) {
      if (!isLink(each)) continue
      await see(404, `${addressOf(each)}?token=nowhere`, fieldsOf(each))
      if (each.path.includes('Token')) continue
      const without = await visit(addressOf(each), fieldsOf(each))
      expectPage(await without.text(), without, [locale, nameOf(each)], 400, locale)
    }
    const response = await send(app, 'nobody', addressOf(each), fieldsOf(each))
    expectPage(await response.text(), response, ['nobody', nameOf(each)], 404, 'en')
  }
})

test('where the store shows nothing any more, all but the way out of its emails is a page that says so', async () => {
  for (const { shop, see } of worlds) {
    await app.database.query(
      "update subscriptions set status = 'trialing', trial_ends_at = $2 where store_id = $1",
      [shop.id, app.clock.now()],
    )
    for (const each of forPeople)
      if (!each.path.endsWith('/unsubscribe'))
        await see(404, `${addressOf(each)}?token=nowhere`, fieldsOf(each))
  }
})

/** Who writes a page's headers itself, and why. */
const byThemselves: Readonly<Record<string, string>> = {
  'sandbox/assets.ts': 'files of the sandbox',
  'sandbox/shop/layout.ts': "the sandbox's own shop, with a policy of its own",
  'capture/popup/preview-page.ts':
    'shows the pictures of a popup, which the policy of others lets in from nowhere',
}

test('HTML is answered by what escapes its title and has its policy', () => {
  const root = join(import.meta.dirname, '../../operations')
  const found = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && readFileSync(join(root, file), 'utf8').includes('text/html'))
    .filter((file) => !(file in byThemselves))
  expect(found, 'answer by shopperPage, or by htmlAnswer of runtime/values/html.ts').toEqual([])
})
