import { describe, expect, test } from 'vitest'
import getSettings from '#operations/exchanges/settings/api/get-settings'
import saveSettings from '#operations/exchanges/settings/api/save-settings'
import { testApp } from '#test/support/app'
import { refused } from '#test/support/refused'
import { type Shop, store } from '#test/support/store'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')

const save = (shop: Shop, body: object) => shop.call(saveSettings, { body })
const read = async (shop: Shop) => (await shop.call(getSettings)).body
const place = {
  recipient: 'Aurora',
  street: 'Rua A',
  city: 'São Paulo',
  postalCode: '01000-000',
  country: 'BR',
}

describe('settings of exchanges', () => {
  test('are the defaults until saved', async () => {
    expect(await read(await store(app))).toMatchObject({ isEnabled: false, windowDays: 30, updatedAt: null })
  })

  test('cannot be enabled without a return address', async () => {
    const shop = await store(app)
    expect(await save(shop, { isEnabled: true })).toMatchObject(refused(400, 'returnAddress'))
    const partial = await save(shop, { isEnabled: true, returnAddress: { ...place, city: undefined } })
    expect(partial).toMatchObject(refused(400, 'returnAddress.city: must be given'))
    expect(await save(shop, { isEnabled: true, returnAddress: place })).toMatchObject({
      status: 200,
      body: { isEnabled: true, returnAddress: { ...place, complement: null, phone: null } },
    })
  })

  test('refuse an unknown variable, a repeated reason and no method at all', async () => {
    const shop = await store(app)
    const faults: [object, string][] = [
      [{ emails: { approved: { body: '{{nope}}' } } }, 'emails.approved.body'],
      [{ reasons: ['A', 'B'].map((label) => ({ key: 'a', label })) }, 'reasons.1.key'],
      [{ returnMethods: [{ method: 'pickup', label: 'P', isEnabled: false }] }, 'returnMethods'],
    ]
    for (const [body, field] of faults) {
      expect(await save(shop, body)).toMatchObject(refused(400, field))
    }
  })

  test('are enabled by the onboarding once there is a return address', async () => {
    const shop = await store(app)
    const activate = () =>
      shop.request('POST', '/onboarding/activate-features', { body: { features: ['exchanges', 'reviews'] } })
    expect((await activate()).body).toMatchObject({
      activated: ['reviews'],
      skipped: [{ feature: 'exchanges', reason: 'return-address-required' }],
    })
    expect((await read(shop)).isEnabled).toBe(false)
    await save(shop, { returnAddress: place })
    expect((await activate()).body).toMatchObject({ activated: ['exchanges', 'reviews'], skipped: [] })
    const on = await read(shop)
    expect(on.isEnabled).toBe(true)
    expect((await activate()).body.activated).toEqual(['exchanges', 'reviews'])
    expect(await read(shop)).toEqual(on)
  })
})
