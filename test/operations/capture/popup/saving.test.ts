import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import createList from '#operations/campaigns/lists/api/create-list'
import deleteList from '#operations/campaigns/lists/api/delete-list'
import getPublicationStatus from '#operations/capture/popup/api/get-publication-status'
import getSettings from '#operations/capture/popup/api/get-settings'
import saveSettings from '#operations/capture/popup/api/save-settings'
import activateFeatures from '#operations/store/onboarding/api/activate-features'
import getOnboarding from '#operations/store/onboarding/api/get-onboarding'
import { newId } from '#runtime/values/ids'
import { testApp } from '#test/support/app'
import { popupShop, setMode, visit } from '#test/support/capture'
import { connectedStore } from '#test/support/platform'
import { refused } from '#test/support/refused'
import { deleteRows, readRows, setRows } from '#test/support/rows'
import { type Shop, store } from '#test/support/store'

const app = await testApp()
const save = (shop: Shop, body: Record<string, unknown>) => shop.call(saveSettings, { body })
const prize = (probability: number, more: Record<string, unknown> = {}) => ({
  label: `${probability}%`,
  probability,
  ...more,
})
const coupon = { mode: 'unique', value: 10 }
const readMessage = async (shop: Shop, body: Record<string, unknown>): Promise<[number, string]> => {
  const answer = await save(shop, body)
  return [answer.status, answer.body.error?.message]
}

describe('settings of the popup', () => {
  test('have defaults until they are saved', async () => {
    const shop = await store(app)
    const first = await shop.call(getSettings)
    expect([first.status, first.body.isEnabled, first.body.updatedAt]).toEqual([200, false, null])
    expect(first.body.coupon).toEqual({
      enabled: false,
      mode: 'shared',
      code: null,
      prefix: null,
      type: 'percentage',
      value: 10,
      minimumAmount: null,
      validDays: null,
    })
  })

  test('a prize sent back with its id keeps it; another gets a new id', async () => {
    const shop = await connectedStore(app)
    const saved = await save(shop, { roulette: { prizes: [prize(60, { coupon }), prize(40)] } })
    expect(saved.body.roulette).toMatchObject({
      ...{ enabled: false, prizes: [{ label: '60%', color: '#6366f1', stock: null, won: 0 }, {}] },
    })
    const [kept] = saved.body.roulette.prizes
    const replaced = await save(shop, {
      roulette: { prizes: [{ ...kept, label: 'Kept' }, prize(20), prize(20, { id: newId(1) })] },
    })
    const ids = replaced.body.roulette.prizes.map((each: { id: string }) => each.id)
    expect(ids[0]).toBe(kept.id)
    expect(new Set(ids).size).toBe(3)
    expect(ids).not.toContain(newId(1))
  })

  test('probabilities must sum to 100', async () => {
    const shop = await connectedStore(app)
    const thirds = (last: number) => ({
      roulette: { enabled: true, prizes: [prize(33.33, { coupon }), prize(33.33), prize(last)] },
    })
    expect(await readMessage(shop, thirds(33.33))).toEqual([
      400,
      'roulette.prizes: probabilities must sum to 100 (now 99.99)',
    ])
    expect((await save(shop, thirds(33.34))).status).toBe(200)
    expect((await readMessage(shop, { roulette: { prizes: [prize(33.333), prize(66.667)] } }))[1]).toContain(
      'roulette.prizes.0.probability: must have at most two decimals',
    )
  })

  test('each enabled part is validated, and issues name the field', async () => {
    const shop = await connectedStore(app)
    const faults: [Record<string, unknown>, string][] = [
      [{ coupon: { enabled: true } }, 'coupon.code: is required'],
      [{ coupon: { enabled: true, code: 'TEN', value: 101 } }, 'coupon.value: must be at most 100'],
      [
        { coupon: { enabled: true, code: 'TEN', type: 'amount', value: 0 } },
        'coupon.value: must be more than 0',
      ],
      [{ coupon: { enabled: true, code: 'TEN', type: 'free-shipping' } }, 'coupon.value: must be null'],
      [{ roulette: { enabled: true, prizes: [prize(100, { coupon })] } }, 'must have at least 2 prizes'],
      [
        { roulette: { enabled: true, prizes: [prize(100, { coupon }), prize(0)] } },
        '1.probability: must be more',
      ],
      [{ roulette: { enabled: true, prizes: [prize(50), prize(50)] } }, 'at least one must have a coupon'],
      [
        { isEnabled: true, fields: { email: { enabled: false, required: false } } },
        'fields: the email or the phone',
      ],
      [{ isEnabled: true, fields: { name: { required: true } } }, 'fields.name.required'],
      [
        {
          isEnabled: true,
          couponDelivery: 'both',
          fields: { email: { required: false }, phone: { enabled: true } },
        },
        'couponDelivery: both needs fields.email to be required',
      ],
      [
        {
          isEnabled: true,
          display: { startsAt: '2026-11-20T12:00:00.000Z', endsAt: '2026-11-20T12:00:00.000Z' },
        },
        'display.endsAt',
      ],
      [{ isEnabled: true, display: { pageMode: 'include' } }, 'display.pagePatterns'],
      [{ isEnabled: true, display: { delaySeconds: null } }, 'display: one of delaySeconds'],
      [{ design: { imageUrl: 'http://images.example.com/a.png' } }, 'design.imageUrl: must be an https'],
      [{ design: { logoUrl: 'javascript:alert(1)' } }, 'design.logoUrl'],
      [
        {
          roulette: {
            enabled: true,
            prizes: [
              prize(50, { coupon: { code: 'same', value: 10 } }),
              prize(50, { coupon: { code: 'SAME', value: 15 } }),
            ],
          },
        },
        'roulette.prizes.1.coupon.code: SAME is used for another discount already',
      ],
    ]
    for (const [body, message] of faults) {
      expect(await save(shop, body), JSON.stringify(body)).toMatchObject(refused(400, message))
    }
    // Disabled parts may be incomplete.
    expect((await save(shop, { coupon: { code: null }, display: { pageMode: 'include' } })).status).toBe(200)
  })

  test('a popup that nothing can open is refused, and one that something opens is not', async () => {
    const shop = await store(app)
    const never = { delaySeconds: null, scrollPercent: null, exitIntent: false, teaserEnabled: false }
    const closed = [
      {},
      { teaserEnabled: true },
      { teaserEnabled: true, teaserText: null },
      { teaserText: 'Win' },
      { exitIntent: true, devices: 'mobile' },
    ]
    for (const display of closed) {
      const body = { isEnabled: true, display: { ...never, teaserText: null, ...display } }
      const expected = [400, expect.stringContaining('else nothing can open the popup')]
      expect([display, await readMessage(shop, body)]).toEqual([display, expected])
    }
    const open = [
      { delaySeconds: 0 },
      { scrollPercent: 50 },
      { exitIntent: true },
      { teaserEnabled: true, teaserText: 'Win' },
    ]
    for (const display of open) {
      const answer = await save(shop, { isEnabled: true, display: { ...never, ...display } })
      expect([display, answer.status]).toEqual([display, 200])
    }
  })

  test('shared codes are created on the platform, in upper case, once; a refusal names the field', async () => {
    const shop = await connectedStore(app)
    const saved = await save(shop, { coupon: { enabled: true, code: 'bemvindo10', minimumAmount: 50 } })
    expect(saved.body.coupon.code).toBe('BEMVINDO10')
    const coupons = await readRows(shop, 'sandbox_objects', ['id', 'data'], { kind: 'coupon' })
    expect(coupons).toMatchObject([
      { id: 'BEMVINDO10', data: { type: 'percentage', value: '10.00', minimumAmount: '50.00' } },
    ])
    expect(await readMessage(shop, { coupon: { code: 'REFUSED' } })).toEqual([
      400,
      expect.stringContaining('coupon.code: The platform does not take'),
    ])
    await setMode(shop, 'ecommerce', 'down')
    expect((await save(shop, { texts: { title: 'Hi' } })).status).toBe(200)
    expect((await save(shop, { coupon: { code: 'OTHER' } })).status).toBe(503)
    // Publishes pending changes before the following tests.
    await deleteRows(shop, 'sandbox_modes')
    await app.drainJobs()
  })

  test('a code that exists on the platform with other terms is refused and named', async () => {
    const shop = await connectedStore(app)
    const own = { enabled: true, mode: 'shared', code: 'DEZ', type: 'percentage', value: 10 }
    expect((await save(shop, { coupon: own })).status).toBe(200)
    const message = 'coupon.code: DEZ exists at your platform and gives 10 %, not 50 %: choose another code'
    expect(await save(shop, { coupon: { ...own, value: 50 } })).toMatchObject(refused(409, message))
    expect((await save(shop, { coupon: { ...own, code: 'MEIA', value: 50 } })).status).toBe(200)
  })

  test('a code is checked again whenever its promise changes, and only then', async () => {
    const shop = await connectedStore(app)
    const own = { enabled: true, mode: 'shared', code: 'NATAL', type: 'percentage', value: 10 }
    const until = (endsAt: string | null) => ({ display: { endsAt } })
    expect((await save(shop, { coupon: own, ...until('2026-12-20T12:00:00.000Z') })).status).toBe(200)
    // The merchant lets the code end with the popup, at the platform.
    await setRows(
      shop,
      'sandbox_objects',
      { data: sql<string>`data || '{"endsAt": "2026-12-20T12:00:00.000Z"}'` },
      { kind: 'coupon' },
    )
    const refusal = [
      409,
      'coupon.code: NATAL exists at your platform and ends at 2026-12-20T12:00:00.000Z: choose another code',
    ]
    expect(await readMessage(shop, until('2026-12-21T12:00:00.000Z'))).toEqual(refusal)
    expect(await readMessage(shop, until(null))).toEqual(refusal)
    // People who subscribe on the last day get a week more.
    expect(await readMessage(shop, { coupon: { validDays: 7 } })).toEqual(refusal)
    expect(
      (await save(shop, { coupon: { validDays: 7 }, ...until('2026-12-13T12:00:00.000Z') })).status,
    ).toBe(200)
    // A change without promises calls no provider, one with promises does.
    await setMode(shop, 'ecommerce', 'down')
    expect((await save(shop, { texts: { title: 'Hi' } })).status).toBe(200)
    expect((await save(shop, { isEnabled: true })).status).toBe(503)
    await setMode(shop, 'ecommerce', null)
    await setRows(
      shop,
      'sandbox_objects',
      { data: sql<string>`data || '{"value": "5.00"}'` },
      { kind: 'coupon' },
    )
    expect(await readMessage(shop, { isEnabled: true })).toEqual([
      409,
      'coupon.code: NATAL exists at your platform and gives 5 %, not 10 %: choose another code',
    ])
    await app.drainJobs()
  })

  test('without a platform or an email provider: 409 only if this save turns it on', async () => {
    const shop = await store(app)
    expect((await save(shop, { coupon: { enabled: true, code: 'TEN' } })).status).toBe(409)
    expect((await save(shop, { isMailproviderEnabled: true })).status).toBe(409)
    expect((await save(shop, { isEnabled: true })).status).toBe(200)
    const other = await connectedStore(app)
    await save(other, { coupon: { enabled: true, code: 'TEN' } })
    await setRows(other, 'connections', { connected_at: null })
    expect((await save(other, { texts: { title: 'Still' } })).status).toBe(200)
    expect((await save(other, { coupon: { value: 20 } })).status).toBe(409)
  })

  test('a deleted contact list is cleared from the settings', async () => {
    const shop = await store(app)
    const { id } = (await shop.call(createList, { body: { name: 'Popup' } })).body
    expect((await save(shop, { contactListId: id })).body.contactListId).toBe(id)
    await shop.call(deleteList, { params: { id } })
    expect((await shop.call(getSettings)).body.contactListId).toBeNull()
  })
})

describe('publication status', () => {
  const stateOf = async (shop: Shop) => (await shop.call(getPublicationStatus)).body

  test('the status goes from disabled to live, outside its schedule, and off the platform', async () => {
    const shop = await connectedStore(app)
    expect(await stateOf(shop)).toMatchObject({
      isEnabled: false,
      isLive: false,
      state: 'disabled',
      scriptUrl: expect.stringContaining(`/storefront/${shop.publicId}/loader.js`),
      lastSeenAt: null,
    })
    await save(shop, { isEnabled: true })
    expect(await stateOf(shop)).toMatchObject({ state: 'publishing', isLive: false })
    await app.drainJobs()
    expect(await stateOf(shop)).toMatchObject({
      state: 'live',
      isLive: true,
      scriptId: expect.any(String),
      installedAt: expect.any(String),
      message: null,
    })
    await visit(shop, 'GET', '/newsletter')
    expect((await stateOf(shop)).lastSeenAt).not.toBeNull()
    const tomorrow = new Date(app.clock.ms() + 86_400_000).toISOString()
    await save(shop, { display: { startsAt: tomorrow } })
    await app.drainJobs()
    expect((await stateOf(shop)).state).toBe('outside-schedule')
    expect((await visit(shop, 'GET', '/newsletter')).body).toEqual({ enabled: false })
    await save(shop, { isEnabled: false })
    expect((await stateOf(shop)).state).toBe('disabled')
    await deleteRows(shop, 'sandbox_objects', { kind: 'script' })
    await save(shop, { isEnabled: true })
    await app.drainJobs()
    await deleteRows(shop, 'sandbox_objects', { kind: 'script' })
    expect((await stateOf(shop)).state).toBe('not-installed')
    await setMode(shop, 'ecommerce', 'down')
    expect((await shop.call(getPublicationStatus)).status).toBe(503)
  })
})

describe('onboarding', () => {
  test('activating turns the popup on, which completes its step', async () => {
    const shop = await store(app)
    const step = async () =>
      (await shop.call(getOnboarding)).body.steps.find((each: { id: string }) => each.id === 'popup')
    expect(await step()).toMatchObject({ isDone: false })
    const activated = await shop.call(activateFeatures, {
      body: { features: ['newsletter', 'contact-form'] },
    })
    expect(activated.body.activated).toEqual(['newsletter', 'contact-form'])
    expect((await shop.call(getSettings)).body.isEnabled).toBe(true)
    const done = await step()
    expect(done).toMatchObject({ isDone: true, doneAt: expect.any(String) })
    expect((await visit(shop, 'GET', '/contact-form')).body.enabled).toBe(true)
    await app.advance(1000)
    expect((await shop.call(activateFeatures, { body: { features: ['newsletter'] } })).status).toBe(200)
    expect(await step()).toEqual(done)
  })
})

test('the public popup has no probabilities, stock, codes or list ids', async () => {
  const shop = await popupShop(app, {
    roulette: {
      enabled: true,
      prizes: [prize(60, { coupon: { mode: 'shared', code: 'SECRET60' }, stock: 77 }), prize(40)],
    },
  })
  const { body, text, headers } = await visit(shop, 'GET', '/newsletter')
  expect(body).toMatchObject({
    enabled: true,
    token: expect.any(String),
    settings: { roulette: { enabled: true, prizes: [{ id: expect.any(String), label: '60%' }, {}] } },
  })
  expect(text).not.toMatch(/SECRET60|probability|"stock"|:77\b|contactListId|isMailprovider|"coupon"/)
  expect(headers.get('access-control-allow-origin')).toBe('*')
})
