import { describe, expect, test } from 'vitest'
import getSettings from '#operations/bars/countdown/api/get-settings'
import saveSettings from '#operations/bars/countdown/api/save-settings'
import { testApp } from '#test/support/app'
import { refused } from '#test/support/refused'
import { type Shop, store } from '#test/support/store'
import { visit } from '#test/support/storefront'

const app = await testApp({ storefrontReadsIp: 10_000 })
await app.setClock('2026-11-20T12:00:00.000Z')

const save = (shop: Shop, body: object) => shop.call(saveSettings, { body })
const read = async (shop: Shop) => (await shop.call(getSettings)).body
const on = (countdown: object) => ({ isEnabled: true, countdown: { isEnabled: true, ...countdown } })
const shown = async (shop: Shop) => {
  const { body, headers } = await visit(shop, '/widgets')
  return { bar: body.countdownBar, cacheControl: headers.get('cache-control') }
}

describe('the countdown banner', () => {
  test('the banner has defaults until it is saved', async () => {
    expect(await read(await store(app))).toMatchObject({
      isEnabled: false,
      countdown: {
        isEnabled: false,
        type: 'fixed',
        timezone: null,
        startLocal: null,
        endLocal: null,
        dailyStart: '00:00',
        dailyEnd: '23:59',
        weekdays: [1, 2, 3, 4, 5, 6, 7],
        durationMinutes: 60,
        restartAfterHours: null,
        text: 'Ends in {{countdown}}',
        afterEnd: 'hide',
        endedText: null,
        state: 'off',
        startsAt: null,
        endsAt: null,
      },
      announcements: [],
      rotationSeconds: 5,
      animation: 'slide',
      linkUrl: null,
      updatedAt: null,
    })
  })

  test('a fixed end is a wall clock in the time zone', async () => {
    const shop = await store(app)
    const inStore = await save(shop, on({ endLocal: '2026-11-27T23:59' }))
    expect(inStore.status).toBe(200)
    expect(inStore.body.countdown).toMatchObject({
      state: 'running',
      startsAt: null,
      endsAt: '2026-11-28T02:59:00.000Z',
    })
    const elsewhere = await save(shop, { countdown: { timezone: 'America/New_York' } })
    expect(elsewhere.body.countdown.endsAt).toBe('2026-11-28T04:59:00.000Z')
  })

  test('the start is inclusive, the end exclusive; a past countdown may stay, but cannot be restarted', async () => {
    const shop = await store(app)
    const dates = { startLocal: '2026-11-21T09:00', endLocal: '2026-11-21T10:00' }
    expect((await save(shop, on(dates))).body.countdown.state).toBe('scheduled')
    await app.setClock('2026-11-21T11:59:59.999Z')
    expect((await read(shop)).countdown.state).toBe('scheduled')
    await app.setClock('2026-11-21T12:00:00.000Z')
    expect((await read(shop)).countdown.state).toBe('running')
    await app.setClock('2026-11-21T12:59:59.999Z')
    expect((await read(shop)).countdown.state).toBe('running')
    await app.setClock('2026-11-21T13:00:00.000Z')
    expect((await read(shop)).countdown.state).toBe('ended')
    const recoloured = await save(shop, { ...(await read(shop)), textColor: '#000000' })
    expect(recoloured).toMatchObject({ status: 200, body: { textColor: '#000000' } })
    expect((await save(shop, { isEnabled: false })).body.countdown.state).toBe('off')
    expect(await save(shop, { isEnabled: true })).toMatchObject(refused(400, 'countdown.endLocal'))
    expect((await save(shop, { countdown: { endLocal: '2026-11-21T09:59' } })).status).toBe(400)
    // In another time zone the same wall clock is another instant, also in the past.
    expect((await save(shop, { countdown: { timezone: 'Europe/Lisbon' } })).status).toBe(400)
    expect((await save(shop, on({ endLocal: '2026-11-22T10:00' }))).body.countdown.state).toBe('running')
    await app.setClock('2026-11-22T12:00:00.000Z')
  })

  test('a window recurs on its weekdays and belongs to the day it starts', async () => {
    const shop = await store(app)
    const monday = { type: 'daily', dailyStart: '22:00', dailyEnd: '02:00', weekdays: [1] }
    // A Sunday.
    const { body } = await save(shop, on(monday))
    expect(body.countdown).toMatchObject({
      state: 'scheduled',
      startsAt: '2026-11-24T01:00:00.000Z',
      endsAt: '2026-11-24T05:00:00.000Z',
    })
    await app.setClock('2026-11-24T04:00:00.000Z') // Tuesday 01:00
    expect((await read(shop)).countdown).toMatchObject({
      state: 'running',
      startsAt: '2026-11-24T01:00:00.000Z',
    })
    await app.setClock('2026-11-24T05:00:00.000Z')
    expect((await read(shop)).countdown).toMatchObject({
      state: 'scheduled',
      startsAt: '2026-12-01T01:00:00.000Z',
    })
    const allDay = await save(shop, { countdown: { dailyStart: '08:00', dailyEnd: '08:00', weekdays: [2] } })
    expect(allDay.body.countdown).toMatchObject({
      startsAt: '2026-11-24T11:00:00.000Z',
      endsAt: '2026-11-25T11:00:00.000Z',
    })
  })

  test('a window removed by a clock change recurs the week after and does not run until then', async () => {
    const shop = await store(app, { timezone: 'America/Santiago' })
    await app.setClock('2027-08-30T15:00:00.000Z')
    // Sunday, 5 September 2027 starts at 1:00 in Santiago.
    const midnight = { type: 'daily', dailyStart: '00:00', dailyEnd: '01:00', weekdays: [7] }
    const { body } = await save(shop, on(midnight))
    const next = { startsAt: '2027-09-12T03:00:00.000Z', endsAt: '2027-09-12T04:00:00.000Z' }
    expect(body.countdown).toMatchObject({ state: 'scheduled', ...next })
    expect((await shown(shop)).bar).toBeUndefined()
    await app.setClock(next.startsAt)
    expect((await shown(shop)).bar.countdown).toMatchObject({ state: 'running', ...next })
    await app.setClock('2026-11-22T12:00:00.000Z')
  })

  test('an evergreen countdown has no instants', async () => {
    const { body } = await save(await store(app), on({ type: 'evergreen', durationMinutes: 15 }))
    expect(body.countdown).toMatchObject({ state: 'running', startsAt: null, endsAt: null })
  })

  test.each<[string, object]>([
    ['isEnabled', { isEnabled: true }],
    ['isEnabled', { isEnabled: true, announcements: [{ text: 'Off', isEnabled: false }] }],
    ['countdown.endLocal', on({})],
    ['countdown.endLocal', { countdown: { endLocal: '2026-11-01T10:00' } }],
    ['countdown.endLocal', { countdown: { endLocal: '2027-02-30T10:00' } }],
    ['countdown.startLocal', on({ startLocal: '2027-01-01T10:00', endLocal: '2027-01-01T10:00' })],
    ['countdown.timezone', { countdown: { timezone: 'Mars/Base' } }],
    ['countdown.timezone', { countdown: { timezone: 'BST' } }],
    ['countdown.endedText', { countdown: { afterEnd: 'text' } }],
    ['countdown.endedText', { countdown: { afterEnd: 'text', endedText: '' } }],
    ['countdown.text', { countdown: { text: '{{clock}}' } }],
    ['countdown.weekdays', { countdown: { weekdays: [1, 1] } }],
    ['announcements.0.linkUrl', { announcements: [{ text: 'x', linkUrl: 'javascript:x' }] }],
    ['linkUrl', { linkUrl: 'http://example.com' }],
    ['linkUrl', { linkUrl: '//example.com' }],
  ])('%s out of its bounds is refused', async (field, change) => {
    const shop = await store(app)
    expect(await save(shop, change)).toMatchObject(refused(400, field))
    expect((await read(shop)).updatedAt).toBeNull()
  })

  test('the storefront has the countdown from its start to its end', async () => {
    const shop = await store(app)
    await app.setClock('2026-11-24T12:00:00.000Z')
    await save(shop, on({ startLocal: '2026-11-24T09:00', endLocal: '2026-11-24T09:01' }))
    const now = await shown(shop)
    expect(now.bar.countdown).toMatchObject({ state: 'running', endsAt: '2026-11-24T12:01:00.000Z' })
    await app.setClock('2026-11-24T12:00:40.000Z')
    expect((await shown(shop)).cacheControl).toContain('max-age=20')
    await app.setClock('2026-11-24T12:01:00.000Z')
    expect((await shown(shop)).bar).toBeUndefined()
    await save(shop, { countdown: { afterEnd: 'text', endedText: 'It is over' } })
    expect((await shown(shop)).bar.countdown).toMatchObject({ state: 'ended', endedText: 'It is over' })
    await save(shop, { countdown: { afterEnd: 'hide' }, announcements: [{ text: 'New' }] })
    expect((await shown(shop)).bar).toMatchObject({
      countdown: null,
      announcements: [{ text: 'New', linkUrl: null }],
    })
  })
})
