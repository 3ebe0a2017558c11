import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { scriptTagsEndAt } from '#operations/store/ecommerce/shopify/installation/scripts'
import { frozenClock } from '#test/support/test-clock'
import { shopify } from './shopify.ts'

const src = 'https://api.example.com/storefront/abc/loader.js'
const clock = frozenClock()
let opened: Awaited<ReturnType<typeof shopify>>
beforeEach(async () => {
  opened = await shopify({ clock })
})
afterEach(() => opened.standIn.close())

const tag = (id: number, of = src) => opened.shop.scripts.push({ id, src: of, created_at: opened.shop.now() })

describe('the loader', () => {
  test('the loader is announced to the block once, and no script tag is needed', async () => {
    const { standIn, shop, port, store } = opened
    expect(await port.ensureScript(store, { src })).toEqual({ id: null })
    expect(await port.ensureScript(store, { src })).toEqual({ id: null })
    expect(shop.metafields).toMatchObject([
      { ownerId: 'gid://shopify/AppInstallation/480', namespace: 'storefront', key: 'loader', value: src },
    ])
    expect(standIn.requests.filter((what) => what === 'graph TellLoader')).toHaveLength(1)
    await port.ensureScript(store, { src: `${src}?2` })
    expect(shop.metafields.map(({ value }) => value)).toEqual([`${src}?2`])
  })

  test('an old tag stays until the block works, or until Shopify loads none', async () => {
    const { shop, port, store } = opened
    tag(7)
    tag(8)
    tag(9, 'https://other.example.com/a.js')
    expect(await port.ensureScript(store, { src })).toEqual({ id: '7' })
    await port.removeScript(store, { src })
    expect(shop.scripts.map(({ id }) => id)).toEqual([9])
    await port.removeScript(store, { src })
    tag(10)
    clock.advance(scriptTagsEndAt - clock.ms())
    expect([await port.listScripts(store), await port.ensureScript(store, { src })]).toEqual([
      [],
      { id: null },
    ])
  })

  test('an app without the permission for tags has none', async () => {
    const { standIn, port } = opened
    const install = await shopify({ clock, app: standIn.app })
    const code = install.standIn.desk.agree()
    const credentials = await install.port.install!.exchange('loja.myshopify.com', code)
    expect(await install.port.listScripts({ id: 's', credentials })).toEqual([])
    await install.standIn.close()
    expect(port.install).toBeUndefined()
  })

  test("the link opens the editor with the app's block", async () => {
    const { standIn, port, store } = opened
    const link = `https://loja.myshopify.com/admin/themes/current/editor?context=apps&activateAppId=${standIn.app.clientId}/loader`
    expect(await port.activationLink(store)).toBe(link)
    const own = { id: 'store', credentials: { shop: standIn.name, ...standIn.app } }
    standIn.requests.length = 0
    expect(await port.activationLink(own)).toBe(link)
    expect(standIn.requests).toEqual([])
  })
})
