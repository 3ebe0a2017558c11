import { describe, expect, test } from 'vitest'
import deactivate from '#operations/bars/actions/api/deactivate'
import getSettings from '#operations/bars/actions/api/get-settings'
import saveSettings from '#operations/bars/actions/api/save-settings'
import { testApp } from '#test/support/app'
import { connectedStore } from '#test/support/platform'
import { refused } from '#test/support/refused'
import { deleteRows } from '#test/support/rows'
import { type Shop, store } from '#test/support/store'
import { visit } from '#test/support/storefront'

const app = await testApp({ storefrontReadsIp: 10_000 })
await app.setClock('2026-11-20T12:00:00.000Z')

const save = (shop: Shop, body: object) => shop.call(saveSettings, { body })
const read = async (shop: Shop) => (await shop.call(getSettings)).body
const action = (type: string, target: string | null = null) => ({ type, label: 'Go', target })

describe('the button banner', () => {
  test('the banner has defaults until it is saved', async () => {
    expect(await read(await store(app))).toEqual({
      isEnabled: false,
      text: null,
      actions: [],
      position: 'bottom',
      isClosable: false,
      showAfterScrollPercent: 0,
      backgroundColor: '#ffffff',
      textColor: '#111827',
      pages: ['all'],
      devices: 'all',
      updatedAt: null,
    })
  })

  test('each button stores its target', async () => {
    const shop = await connectedStore(app)
    const { status, body } = await save(shop, {
      isEnabled: true,
      text: '',
      actions: [
        action('link', '/ofertas'),
        action('messaging', '(11) 98888-7777'),
        action('phone', '+55 11 98888-6666'),
        action('product', '1001'),
        { ...action('coupon', 'AURORA10'), icon: 'tag', backgroundColor: '#000000' },
      ],
    })
    expect(status).toBe(200)
    expect(body.text).toBeNull()
    const rest = { label: 'Go', icon: null, backgroundColor: '#15803d', textColor: '#ffffff' }
    expect(body.actions).toEqual([
      { ...rest, type: 'link', target: '/ofertas' },
      { ...rest, type: 'messaging', target: '+5511988887777' },
      { ...rest, type: 'phone', target: '+5511988886666' },
      { ...rest, type: 'product', target: '1001' },
      { ...rest, type: 'coupon', target: 'AURORA10', icon: 'tag', backgroundColor: '#000000' },
    ])
    const { actionBar } = (await visit(shop, '/widgets')).body
    expect(actionBar.actions.map((each: { url: string | null }) => each.url)).toEqual([
      '/ofertas',
      'https://wa.me/5511988887777',
      'tel:+5511988886666',
      expect.stringContaining('/products/caneca'),
      null,
    ])
  })

  test.each<[string, object]>([
    ['actions', { isEnabled: true }],
    ['actions.0.target', { actions: [action('link')] }],
    ['actions.0.target', { actions: [action('link', 'http://example.com')] }],
    ['actions.1.target', { actions: [action('scroll-top'), action('messaging', 'abc')] }],
    ['actions.0.target', { actions: [action('phone', '12')] }],
    ['actions.0.target', { actions: [action('coupon', '')] }],
    ['actions.0.target', { actions: [action('coupon', 'x'.repeat(41))] }],
    ['actions.0.target', { actions: [action('scroll-top', '/top')] }],
  ])('%s out of its bounds is refused', async (field, change) => {
    const shop = await store(app)
    expect(await save(shop, change)).toMatchObject(refused(400, field))
  })

  test('a button of a deleted product is left out', async () => {
    const shop = await connectedStore(app)
    await save(shop, { isEnabled: true, actions: [action('product', '1001'), action('scroll-top')] })
    await deleteRows(shop, 'sandbox_objects')
    await app.advance(7 * 3_600_000)
    await app.drainJobs()
    expect((await save(shop, await read(shop))).status).toBe(200)
    const { actionBar } = (await visit(shop, '/widgets')).body
    expect(actionBar.actions.map((each: { type: string }) => each.type)).toEqual(['scroll-top'])
  })

  test('the whole is validated even while turned off', async () => {
    const shop = await store(app)
    const { status } = await save(shop, { isEnabled: false, actions: [action('link', 'nowhere')] })
    expect(status).toBe(400)
  })

  test('deactivating turns it off whatever is sent, and changes nothing else', async () => {
    const shop = await store(app)
    const before = (await save(shop, { isEnabled: true, text: 'Hi', actions: [action('scroll-top')] })).body
    await app.advance(1000)
    const broken = { isEnabled: true, text: 7, actions: 'none', foo: { bar: [] } }
    const off = await shop.call(deactivate, { body: broken })
    expect(off.status).toBe(200)
    expect(off.body).toEqual({ ...before, isEnabled: false, updatedAt: app.clock.now().toISOString() })
    await app.advance(1000)
    expect((await shop.call(deactivate)).body).toEqual(off.body)
    expect((await visit(shop, '/widgets')).body).not.toHaveProperty('actionBar')
  })
})
