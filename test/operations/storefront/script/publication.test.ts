import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliDecompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { connectEcommerce, findEcommerce } from '#operations/store/connections/connections'
import { markStorefrontChanged, publication } from '#operations/storefront/index'
import { buildLoader, buildModules } from '#operations/storefront/script/modules'
import { overrideExtensions, testApp } from '#test/support/app'
import { type ConnectedShop, connectedStore } from '#test/support/platform'
import { deleteRows } from '#test/support/rows'
import { type Shop, store } from '#test/support/store'
import { visit } from '#test/support/storefront'
import { isFullSuite } from '#test/support/suite'

const app = await testApp({ storefrontReadsIp: 10_000 })
await app.setClock('2026-11-20T12:00:00.000Z')

const save = async (shop: Shop) => (await shop.context()).transaction(markStorefrontChanged)
const readState = async (shop: Shop) => publication.readState(await shop.context())
const scripts = (shop: Shop) =>
  app.database.root
    .selectFrom('sandbox_objects')
    .select('data')
    .where('store_id', '=', shop.id)
    .where('kind', '=', 'script')
    .execute()
const mode = (shop: ConnectedShop, mode: string) =>
  app.database.root
    .insertInto('sandbox_modes')
    .values({ store_id: shop.id, port: 'ecommerce', mode })
    .onConflict((conflict) => conflict.columns(['store_id', 'port']).doUpdateSet({ mode }))
    .execute()

describe('the loader', () => {
  test('the loader is a script that runs, cached for five minutes', async () => {
    const shop = await store(app)
    const { status, text, headers } = await visit(shop, '/loader.js')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    expect(headers.get('cache-control')).toBe('public, max-age=300')
    expect(() => new Function(text)).not.toThrow()
    expect(text).toContain(`/storefront/${shop.publicId}"`)
    const again = await visit(shop, '/loader.js', { headers: { 'if-none-match': headers.get('etag')! } })
    expect(again.status).toBe(304)
    expect((await visit(shop, '/loader.js', { publicId: 'nobody' })).status).toBe(404)
  })

  test('it knows the registered elements, whose modules import only served files', async () => {
    const folder = join(app.dataDir, 'elements')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'shared.js'), 'export const shared = 1\n')
    writeFileSync(
      join(folder, 'store-thing.js'),
      "import { h } from '../../anywhere/elements.js'\nimport { shared } from './shared.js'\nexport default { h, shared }\n",
    )
    const module = pathToFileURL(join(folder, 'store-thing.js'))
    const element = { tag: 'store-thing', widget: 'things', module, pages: ['product', 'cart'] as const }
    const { extensions } = overrideExtensions(app.registry, { elements: [element] })
    const { release, files } = buildModules(extensions)
    const textOf = (name: string): string => files.get(name)!.text
    expect(textOf('store-thing.js')).toContain("from './elements.js'")
    expect(textOf('shared.js')).toContain('shared = 1')
    expect(textOf('hooks.js')).toMatch(/from\s*"\.\/preact\.js"/)
    const store = {
      base: 'https://a.example',
      modules: `/elements/${release}/`,
      name: 'A',
      locale: 'en',
      currency: 'USD',
    }
    const text = buildLoader(extensions, store).text
    expect(() => new Function(text)).not.toThrow()
    expect(text).toContain('["thing","things","product cart",0,0,0]')
  })

  test('a module is cached for ever under its release, and not at all under another; compressed on request', async () => {
    const { release } = buildModules(app.services.extensions)
    const ask = (path: string, encoding = 'br') =>
      app.fetch(
        new Request(`${app.services.settings.publicUrl}${path}`, {
          headers: { 'accept-encoding': encoding },
        }),
      )
    const now = await ask(`/elements/${release}/elements.js`)
    expect(now.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
    expect([now.headers.get('content-encoding'), now.headers.get('vary')]).toEqual(['br', 'accept-encoding'])
    expect(now.headers.get('access-control-allow-origin')).toBe('*')
    const text = brotliDecompressSync(Buffer.from(await now.arrayBuffer())).toString()
    expect(text).toBe(await (await ask(`/elements/${release}/elements.js`, 'br;q=0, identity')).text())
    expect((await ask('/elements/yesterday/elements.js')).headers.get('cache-control')).toBe('no-store')
    expect((await ask(`/elements/${release}/nothing.js`)).status).toBe(404)
  })

  test('every element is drawn from an existing widget, and its module has a view', async () => {
    const { elements, widgets } = app.services.extensions
    for (const { tag, widget, module } of elements) {
      expect(tag).toMatch(/^store-[a-z-]+$/)
      expect(Object.keys(widgets)).toContain(widget)
      expect(module.pathname).toContain(`/elements/${tag}.js`)
    }
    expect(new Set(elements.map(({ tag }) => tag)).size).toBe(elements.length)
  })

  test('it is installed on the platform by the first change, and only by it', async () => {
    const shop = await connectedStore(app)
    expect(await readState(shop)).toMatchObject({ state: 'not-installed', scriptId: null, installedAt: null })
    await save(shop)
    expect(await readState(shop)).toMatchObject({ state: 'publishing' })
    await app.drainJobs()
    const state = await readState(shop)
    expect(state).toMatchObject({ state: 'installed', installedAt: app.clock.now(), message: null })
    expect(await scripts(shop)).toMatchObject([{ data: { id: state.scriptId, src: state.scriptUrl } }])
    expect(state.scriptUrl).toMatch(new RegExp(`/storefront/${shop.publicId}/loader.js$`))
    await save(shop)
    expect(await readState(shop)).toMatchObject({ state: 'installed' })
    expect(await scripts(shop)).toHaveLength(1)
  })

  test('a loader removed by the merchant is not installed; publishing installs it again', async () => {
    const shop = await connectedStore(app)
    await save(shop)
    await app.drainJobs()
    await deleteRows(shop, 'sandbox_objects', { kind: 'script' })
    expect(await readState(shop)).toMatchObject({ state: 'not-installed', scriptId: null })
    await (await shop.context()).transaction(publication.publish)
    await app.drainJobs()
    expect(await readState(shop)).toMatchObject({ state: 'installed' })
  })

  test('a loader with an earlier address of this server gets the present one by the refresh of the catalog', async () => {
    const shop = await connectedStore(app)
    await save(shop)
    await app.drainJobs()
    const { scriptUrl } = await readState(shop)
    const src = scriptUrl.replace(/^.*(?=\/storefront)/, 'https://earlier.example.com')
    await deleteRows(shop, 'sandbox_objects', { kind: 'script' })
    const { port, store } = (await findEcommerce(await shop.context()))!
    await port.ensureScript(store, { src })
    await publication.sendLoaderUrl(await shop.context())
    expect(await scripts(shop)).toContainEqual({ data: expect.objectContaining({ src: scriptUrl }) })
    expect(await readState(shop)).toMatchObject({ state: 'installed', scriptUrl })
  })

  test.runIf(isFullSuite)(
    'it fails with a reason if the platform never answers; the next change tries again',
    async () => {
      const shop = await connectedStore(app)
      await mode(shop, 'down')
      await save(shop)
      for (let i = 0; i < 3; i += 1) await expect(readState(shop)).rejects.toThrow('down')
      // The platform does not answer for a day.
      await app.advance(24 * 3_600_000)
      for (let i = 0; i < 6; i += 1) {
        await app.drainJobs({ allowFailures: true })
        await app.advance(600_000)
      }
      await mode(shop, 'up')
      const failed = await readState(shop)
      expect(failed.state).toBe('failed')
      expect(failed.message).toContain('did not answer')
      await save(shop)
      await app.drainJobs()
      expect(await readState(shop)).toMatchObject({ state: 'installed', message: null })
    },
  )

  test('it waits for a platform that is down, and continues by itself', async () => {
    const shop = await connectedStore(app)
    await mode(shop, 'down')
    await save(shop)
    for (let i = 0; i < 3; i += 1) await expect(readState(shop)).rejects.toThrow('down')
    await app.drainJobs({ allowFailures: true })
    // Longer than all retries of the job take.
    await app.advance(3_600_000)
    await app.drainJobs({ allowFailures: true })
    await mode(shop, 'up')
    await app.advance(70 * 60_000)
    await app.drainJobs()
    expect(await readState(shop)).toMatchObject({ state: 'installed', message: null })
  })

  test('without a platform nothing is queued; after connecting, it is installed', async () => {
    const shop = await store(app)
    await save(shop)
    expect(await readState(shop)).toMatchObject({ state: 'not-installed', checkedAt: null })
    await connectEcommerce(await shop.context(), 'sandbox', { token: 'sandbox' })
    await app.drainJobs()
    expect(await readState(shop)).toMatchObject({ state: 'installed' })
  })

  test('the last sighting is recorded to the minute', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    const first = app.clock.now()
    await publication.recordSeen(ctx)
    await app.advance(59_000)
    await publication.recordSeen(ctx)
    expect((await readState(shop)).lastSeenAt).toEqual(first)
    await app.advance(1000)
    await publication.recordSeen(ctx)
    expect((await readState(shop)).lastSeenAt).toEqual(app.clock.now())
  })
})
