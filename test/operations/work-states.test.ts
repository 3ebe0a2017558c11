/** Why work stopped, by id: in the API at once, and in the log one line for each change of its state. */
import { describe, expect, test } from 'vitest'
import getReport from '#operations/automations/reports/api/get-report'
import pauseCampaign from '#operations/campaigns/campaigns/api/pause-campaign'
import resumeCampaign from '#operations/campaigns/campaigns/api/resume-campaign'
import sendCampaign from '#operations/campaigns/campaigns/api/send-campaign'
import importPlatform from '#operations/campaigns/imports/api/import-platform'
import getList from '#operations/campaigns/lists/api/get-list'
import { getSandbox, type SandboxMode } from '#operations/messaging/provider/sandbox'
import { minuteMs } from '#runtime/durations'
import { LineBuffer, openLogInto } from '#runtime/server/log'
import { testApp } from '#test/support/app'
import { ana, automationShop, never } from '#test/support/automations'
import { makePhone, runUntil, sendingShop } from '#test/support/campaigns'

interface Line {
  msg: string
  store?: string
  campaignId?: string
  automationId?: string
  jobId?: string
  job?: string
  state?: string
  reason?: string | null
}
let written = ''
const lines = new LineBuffer((bytes, done) => {
  written += bytes.toString()
  done()
})
/** The lines since the last call. */
const readLog = (): Line[] => {
  lines.flush()
  const all = written.split('\n').filter(Boolean)
  written = ''
  return all.map((line) => JSON.parse(line) as Line)
}
const readStates = (): Line[] => readLog().filter(({ msg }) => msg === 'work state changed')

const app = await testApp({ sandboxMessagesPerSecond: 0.1 }, { log: openLogInto('info', lines) })
const betweenMs = 12_500
await app.setClock('2026-11-20T15:00:00Z')
const setMode = (shop: { id: string }, mode: SandboxMode) =>
  getSandbox(app.services.adapters.messaging).setMode(shop.id, mode)
const step = async (ms: number) => {
  await app.advance(ms)
  await app.drainJobs({ allowFailures: true })
}

async function campaignOf(contacts: number, fields: Record<string, unknown> = {}) {
  const shop = await sendingShop(app, { phone: makePhone(contacts * 1000) })
  const id = await shop.draft(await shop.list(contacts), fields)
  await shop.call(sendCampaign, { params: { id } })
  readLog()
  return { shop, id }
}

describe('a campaign', () => {
  test('says while it is sending that its provider fails, until it goes on', async () => {
    const { shop, id } = await campaignOf(3)
    const { shop: other, id: otherId } = await campaignOf(2)
    await setMode(shop, 'down')
    await app.drainJobs()
    expect(await shop.read(id)).toMatchObject({ status: 'sending', pauseReason: 'provider-unavailable' })
    expect(await other.read(otherId)).toMatchObject({ status: 'sending', pauseReason: null })
    for (let i = 0; i < 5; i += 1) await step(minuteMs)
    const waiting = { store: shop.id, campaignId: id, state: 'waiting', reason: 'provider-unavailable' }
    const ended = { store: other.id, campaignId: otherId, state: 'finished', reason: null }
    expect(readStates()).toMatchObject([waiting, ended])
    await setMode(shop, 'up')
    await runUntil(app, async () => (await shop.read(id)).counters.sent === 1, minuteMs, 10)
    expect(await shop.read(id)).toMatchObject({ status: 'sending', pauseReason: null })
    await runUntil(app, async () => (await shop.read(id)).status === 'sent', betweenMs, 10)
    expect(await shop.read(id)).toMatchObject({ pauseReason: null })
    expect(readStates()).toMatchObject([
      { ...waiting, state: 'resumed' },
      { ...waiting, state: 'finished', reason: null },
    ])
  })

  test('has a line for each stop, also by hand', async () => {
    const { shop, id } = await campaignOf(4)
    await setMode(shop, 'down')
    await runUntil(app, async () => (await shop.read(id)).status === 'paused', minuteMs, 50)
    await setMode(shop, 'up')
    await shop.call(resumeCampaign, { params: { id } })
    expect(await shop.read(id)).toMatchObject({ status: 'sending', pauseReason: null })
    await app.drainJobs()
    await shop.call(pauseCampaign, { params: { id } })
    expect(
      readStates().map(({ store, campaignId, state, reason }) => [store, campaignId, state, reason]),
    ).toEqual(
      [
        ['waiting', 'provider-unavailable'],
        ['paused', 'provider-unavailable'],
        ['resumed', 'manual'],
        ['paused', 'manual'],
      ].map((change) => [shop.id, id, ...change]),
    )
  })

  test('waits for its send window with one line, and goes on with another', async () => {
    const { shop, id } = await campaignOf(5, { sendWindow: { start: '09:00', end: '12:00' } })
    await app.drainJobs()
    for (let i = 0; i < 3; i += 1) await step(60 * minuteMs)
    const line = { store: shop.id, campaignId: id, reason: 'send-window' }
    expect(readStates()).toMatchObject([{ ...line, state: 'waiting', until: '2026-11-21T12:00:00.000Z' }])
    await app.setClock('2026-11-21T12:00:00Z')
    await step(0)
    expect(readStates()).toMatchObject([{ ...line, state: 'resumed' }])
  })
})

test('an automation whose provider fails has one line for all its messages', async () => {
  await app.setClock('2026-11-20T15:00:00Z')
  const shop = await automationShop(app, { phone: makePhone(77_000) })
  const { id } = await shop.automation({ type: 'abandoned-cart', quietHours: never })
  await shop.cart()
  await shop.cart({ customer: { name: 'Bia', email: 'bia@example.com', phone: '+5511977776666' } })
  await setMode(shop, 'down')
  readLog()
  await step(60 * minuteMs)
  const { body } = await shop.call(getReport, { params: { automationId: id } })
  expect(body.data).toContainEqual(
    expect.objectContaining({ status: 'pending', holdReason: 'provider-unavailable' }),
  )
  for (let i = 0; i < 4; i += 1) await step(minuteMs)
  const line = { store: shop.id, automationId: id, reason: 'provider-unavailable' }
  expect(readStates()).toMatchObject([{ ...line, state: 'waiting' }])
  await setMode(shop, 'up')
  await runUntil(app, async () => (await shop.outbox()).length === 2, minuteMs, 30)
  expect((await shop.outbox()).map(({ phone }) => phone)).toContain(ana.phone)
  expect(readStates()).toMatchObject([{ ...line, state: 'resumed' }])
})

test('a job whose provider fails says so in what it works on, and in one line of the log', async () => {
  await app.setClock('2026-11-20T15:00:00Z')
  const shop = await automationShop(app)
  const outage = (mode: 'up' | 'down') => shop.sandbox(`/ecommerce/${shop.id}/outage`, { mode })
  await outage('down')
  readLog()
  const { body } = await shop.call(importPlatform, { body: { name: 'All' } })
  const read = async () => (await shop.call(getList, { params: { id: body.listId } })).body.import
  await app.drainJobs({ allowFailures: true })
  const waits = { status: 'running', failureReason: expect.stringMatching(/^It waits: .*answer/) }
  expect(await read()).toMatchObject(waits)
  for (let i = 0; i < 5; i += 1) await step(minuteMs)
  expect(await read()).toMatchObject(waits)
  const log = readLog()
  const health = log.filter(({ msg }) => msg === 'connection health changed')
  expect(health).toMatchObject([{ store: shop.id, port: 'ecommerce', state: 'degraded' }])
  const findOwn = (states: Line[]) =>
    states.filter(({ msg, jobId }) => msg === 'work state changed' && jobId === body.jobId)
  const line = { store: shop.id, job: 'list-import', jobId: body.jobId }
  expect(findOwn(log)).toMatchObject([{ ...line, state: 'waiting', reason: 'no-answer' }])
  await outage('up')
  await step(60 * minuteMs)
  expect(await read()).toMatchObject({ status: 'completed', failureReason: null })
  expect(findOwn(readStates())).toMatchObject([{ ...line, state: 'resumed' }])
})
