/**
 * Every shopper page in stores of three languages: successes and errors are pages in the store's language, with one
 * main landmark and one heading, and without English words.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { testApp, wholeRegistry } from '#test/support/app'
import { isFullSuite } from '#test/support/suite'
import { appendedByOthers, cases, expectPage, formatName, send, world } from './shopper-pages.ts'

const app = await testApp({
  storefrontReadsIp: 10_000,
  storefrontWritesIp: 10_000,
  storefrontAcceptedIp: 10_000,
})
const { pages } = await wholeRegistry()
const forPeople = pages.filter((each) => each.forPeople)
/** Words that are equal in another language. */
const shared = ['has', 'link', 'newsletter', 'use']

const worlds = [await world(app, 'en-US'), await world(app, 'pt-BR'), await world(app, 'es-MX')]

test('every HTML page for shoppers has a case', async () => {
  expect(forPeople.map(formatName).sort()).toEqual(Object.keys(cases).sort())
  const scripts = pages.filter(({ path, forPeople: its }) => path.startsWith('/storefront/') && !its)
  expect(scripts.length).toBeGreaterThan(10)
  for (const each of scripts)
    for (const publicId of [worlds[0]!.shop.publicId, 'nobody']) {
      const path = each.path.replace(':publicId', publicId).replace(/:\w+/g, '1001')
      const { headers } = await send(app, publicId, path, each.method === 'POST' ? {} : undefined)
      expect([formatName(each), headers.get('content-type')?.startsWith('text/html') ?? false]).toEqual([
        formatName(each),
        false,
      ])
    }
})

test.runIf(isFullSuite).each(Object.keys(cases))(
  '%s: pages in other languages contain no English',
  async (name) => {
    let english = new Map<string, string>()
    // A case that advances the clock uses its own stores.
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

test('every page ignores parameters that others append to its link', async () => {
  for (const name of Object.keys(cases))
    await cases[name]!(await world(app, 'en-US', undefined, appendedByOthers))
})

/** Pages whose link has a token. */
const isLink = ({ path }: { path: string }): boolean => /Token|unsubscribe|confirm|form|preview/.test(path)
const buildAddress = ({ path }: { path: string }): string =>
  path.replace('/storefront/:publicId', '').replace(/:\w+/g, 'nowhere')
const buildFields = ({
  method,
  path,
}: {
  method: string
  path: string
}): Record<string, string> | undefined =>
  method === 'GET' ? undefined : path.includes('Token') ? { trackingCode: '1' } : { token: 'bia' }

test('an invalid link, a link without its token and an unknown store are error pages', async () => {
  for (const each of forPeople) {
    for (const { locale, see, send: visit } of worlds) {
      if (!isLink(each)) continue
      await see(404, `${buildAddress(each)}?token=nowhere`, buildFields(each))
      if (each.path.includes('Token')) continue
      const without = await visit(buildAddress(each), buildFields(each))
      expectPage(await without.text(), without, [locale, formatName(each)], 400, locale)
    }
    const response = await send(app, 'nobody', buildAddress(each), buildFields(each))
    expectPage(await response.text(), response, ['nobody', formatName(each)], 404, 'en')
  }
})

test('while a store shows nothing, every page except unsubscribing says so', async () => {
  for (const { shop, see } of worlds) {
    await app.database.query(
      "update subscriptions set status = 'trialing', trial_ends_at = $2 where store_id = $1",
      [shop.id, app.clock.now()],
    )
    for (const each of forPeople)
      if (!each.path.endsWith('/unsubscribe'))
        await see(404, `${buildAddress(each)}?token=nowhere`, buildFields(each))
  }
})

/** Files that write HTML headers themselves, with the reason. */
const ownHeaders: Readonly<Record<string, string>> = {
  'sandbox/assets.ts': 'files of the sandbox',
  'sandbox/shop/layout.ts': "the sandbox's own shop, with a policy of its own",
  'capture/popup/preview-page.ts':
    'shows the pictures of a popup, which the policy of others lets in from nowhere',
}

test('HTML is answered only by the helpers that escape titles and set the policy', () => {
  const root = join(import.meta.dirname, '../../operations')
  const found = readdirSync(root, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && readFileSync(join(root, file), 'utf8').includes('text/html'))
    .filter((file) => !(file in ownHeaders))
  expect(found, 'answer by shopperPage, or by htmlAnswer of runtime/values/html.ts').toEqual([])
})
