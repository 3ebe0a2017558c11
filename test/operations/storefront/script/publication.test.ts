import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliDecompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { connectEcommerce } from '#operations/store/connections/connections'
import { changed, publication } from '#operations/storefront/door'
import { loaderOf, modulesOf } from '#operations/storefront/script/modules'
import { testApp, withWiring } from '#test/support/app'
import { type ConnectedShop, connectedStore } from '#test/support/platform'
import { deleteRows } from '#test/support/rows'
import { type Shop, store } from '#test/support/store'
import { visit } from '#test/support/storefront'
import { isFullSuite } from '#test/support/suite'

const app = await testApp({ storefrontReadsIp: 10_000 })
await app.setClock('2026-11-20T12:00:00.000Z')

const save = async (shop: Shop) => (await shop.context()).transaction(changed)
const stateOf = async (shop: Shop) => publication.stateOf(await shop.context())
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
  test('is a script that runs, cached five minutes', async () => {
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

  test('knows the elements that sections wire, whose modules import what is served beside them', async () => {
    const folder = join(app.dataDir, 'elements')
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'shared.js'), 'export const shared = 1\n')
    writeFileSync(
      join(folder, 'store-thing.js'),
      "import { h } from '../../anywhere/elements.js'\nimport { shared } from './shared.js'\nexport default { h, shared }\n",
    )
    const module = pathToFileURL(join(folder, 'store-thing.js'))
    const element = { tag: 'store-thing', widget: 'things', module, pages: ['product', 'cart'] as const }
    const { wired } = withWiring(app.registry, { elements: [element] })
    const { release, files } = modulesOf(wired)
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
    const text = loaderOf(wired, store).text
    expect(() => new Function(text)).not.toThrow()
    expect(text).toContain('{"tag":"store-thing","widget":"things","pages":"product cart"}')
  })

  test('a module is kept for ever under its release, and not at all under another; compressed as is wanted', async () => {
    const { release } = modulesOf(app.services.wired)
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

  test('every element of ours is drawn from a widget that there is, and its module has a view', async () => {
    const { elements, widgets } = app.services.wired
    for (const { tag, widget, module } of elements) {
      expect(tag).toMatch(/^store-[a-z-]+$/)
      expect(Object.keys(widgets)).toContain(widget)
      expect(module.pathname).toContain(`/elements/${tag}.js`)
    }
    expect(new Set(elements.map(({ tag }) => tag)).size).toBe(elements.length)
  })

  test('is put on the platform by the first change, and only by it', async () => {
    const shop = await connectedStore(app)
    expect(await stateOf(shop)).toMatchObject({ state: 'not-installed', scriptId: null, installedAt: null })
    await save(shop)
    expect(await stateOf(shop)).toMatchObject({ state: 'publishing' })
    await app.drainJobs()
    const state = await stateOf(shop)
    expect(state).toMatchObject({ state: 'installed', installedAt: app.clock.now(), message: null })
    expect(await scripts(shop)).toMatchObject([{ data: { id: state.scriptId, src: state.scriptUrl } }])
    expect(state.scriptUrl).toMatch(new RegExp(`/storefront/${shop.publicId}/loader.js$`))
    await save(shop)
    expect(await stateOf(shop)).toMatchObject({ state: 'installed' })
    expect(await scripts(shop)).toHaveLength(1)
  })

  test('that the merchant took away is not installed; publishing puts it there again', async () => {
    const shop = await connectedStore(app)
    await save(shop)
    await app.drainJobs()
    await deleteRows(shop, 'sandbox_objects', { kind: 'script' })
    expect(await stateOf(shop)).toMatchObject({ state: 'not-installed', scriptId: null })
    await (await shop.context()).transaction(publication.publish)
    await app.drainJobs()
    expect(await stateOf(shop)).toMatchObject({ state: 'installed' })
  })

  test.runIf(isFullSuite)(
    'fails with a reason when the platform never answers; the next change tries again',
    async () => {
      const shop = await connectedStore(app)
      await mode(shop, 'down')
      await save(shop)
      for (let i = 0; i < 3; i += 1) await expect(stateOf(shop)).rejects.toThrow('down')
      // It does not answer at all: that is waited for, for a day.
      await app.advance(24 * 3_600_000)
      for (let i = 0; i < 6; i += 1) {
        await app.drainJobs({ allowFailures: true })
        await app.advance(600_000)
      }
      await mode(shop, 'up')
      const failed = await stateOf(shop)
      expect(failed.state).toBe('failed')
      expect(failed.message).toContain('did not answer')
      await save(shop)
      await app.drainJobs()
      expect(await stateOf(shop)).toMatchObject({ state: 'installed', message: null })
    },
  )

  test('waits for a platform that is down, and goes on by itself', async () => {
    const shop = await connectedStore(app)
    await mode(shop, 'down')
    await save(shop)
    for (let i = 0; i < 3; i += 1) await expect(stateOf(shop)).rejects.toThrow('down')
    await app.drainJobs({ allowFailures: true })
    // Longer than all tries of the job would take.
    await app.advance(3_600_000)
    await app.drainJobs({ allowFailures: true })
    await mode(shop, 'up')
    await app.advance(70 * 60_000)
    await app.drainJobs()
    expect(await stateOf(shop)).toMatchObject({ state: 'installed', message: null })
  })

  test('without a platform nothing is queued; connected later, it is put there', async () => {
    const shop = await store(app)
    await save(shop)
    expect(await stateOf(shop)).toMatchObject({ state: 'not-installed', checkedAt: null })
    await connectEcommerce(await shop.context(), 'sandbox', { token: 'sandbox' })
    await app.drainJobs()
    expect(await stateOf(shop)).toMatchObject({ state: 'installed' })
  })

  test('was last seen to the minute', async () => {
    const shop = await store(app)
    const ctx = await shop.context()
    const first = app.clock.now()
    await publication.seen(ctx)
    await app.advance(59_000)
    await publication.seen(ctx)
    expect((await stateOf(shop)).lastSeenAt).toEqual(first)
    await app.advance(1000)
    await publication.seen(ctx)
    expect((await stateOf(shop)).lastSeenAt).toEqual(app.clock.now())
  })
})
