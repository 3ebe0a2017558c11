import { describe, expect, test } from 'vitest'
import confirmRedirect from '#operations/messaging/official/api/confirm-redirect'
import disconnect from '#operations/messaging/official/api/disconnect'
import getStatus from '#operations/messaging/official/api/get-status'
import revalidate from '#operations/messaging/official/api/revalidate'
import startSetup from '#operations/messaging/official/api/start-setup'
import getSession from '#operations/messaging/qr/api/get-session'
import * as sending from '#operations/messaging/sending/deliver'
import { testApp } from '#test/support/app'
import { newPhone as aPhone, getPath, numberShop } from '#test/support/numbers'
import type { Shop } from '#test/support/store'

const app = await testApp()
await app.setClock('2026-11-20T12:00:00.000Z')

const at = (ms: number) => app.setClock(new Date(app.clock.ms() + ms))
const minutes = 60_000
const hours = 60 * minutes
const session = async (shop: Shop) => (await shop.call(getSession)).body
const confirm = (shop: Shop, body: object) => shop.call(confirmRedirect, { body })
const official = async (shop: Shop) => (await shop.call(getStatus)).body

describe('the setup of an official number', () => {
  test('a newer link ends the older one; a state works once, for one store', async () => {
    const shop = await numberShop(app)
    const other = await numberShop(app)
    await shop.linkPhone('+5511988001001')
    expect(await official(shop)).toMatchObject({
      status: 'none',
      connected: false,
      setup: null,
      templates: { approved: 0, disabled: 0 },
    })
    const first = await shop.call(startSetup)
    expect(first).toMatchObject({ status: 200, body: { status: 'setup-pending' } })
    expect(first.body.expiresAt).toBe(new Date(app.clock.ms() + hours).toISOString())
    const old = await shop.finish(first.body.setupUrl, aPhone())
    const second = await shop.call(startSetup)
    const dead = await app.fetch(new Request(`http://localhost${getPath(first.body.setupUrl)}`), {})
    expect(dead.status).toBe(410)
    const page = await app.fetch(new Request(`http://localhost${getPath(second.body.setupUrl)}`), {})
    expect(await page.text()).toContain('<label for="displayName">')
    const phone = aPhone()
    const back = await shop.finish(second.body.setupUrl, phone)
    expect(await official(shop)).toMatchObject({
      status: 'setup-pending',
      setup: { expiresAt: second.body.expiresAt },
    })

    expect((await confirm(shop, { state: old.state, code: old.code })).status).toBe(409)
    expect((await confirm(other, { state: back.state, code: back.code })).status).toBe(404)
    expect((await confirm(shop, { state: 'x', code: 'y' })).status).toBe(404)
    expect((await confirm(shop, { state: back.state })).status).toBe(400)
    expect((await confirm(shop, { state: back.state, code: 'c', error: 'e' })).status).toBe(400)
    expect(await confirm(shop, { state: back.state, code: 'wrong' })).toMatchObject({
      status: 400,
    })
    expect((await official(shop)).status).toBe('setup-pending')

    const answers = await Promise.all([
      confirm(shop, { state: back.state, code: back.code }),
      confirm(shop, { state: back.state, code: back.code }),
    ])
    expect(answers.map((each) => each.status).sort()).toEqual([200, 409])
    expect(answers.find((each) => each.status === 200)!.body).toMatchObject({
      status: 'connected',
      connected: true,
      phone,
      displayName: 'Loja',
      displayNameStatus: 'approved',
      issue: null,
      setup: null,
      isStale: false,
      connectedAt: app.clock.now().toISOString(),
      checkedAt: app.clock.now().toISOString(),
    })
    expect((await confirm(shop, { state: back.state, code: back.code })).status).toBe(409)
    expect(await session(shop)).toMatchObject({
      type: 'official',
      connected: true,
      phone,
      qr: { status: 'connected' },
      official: { status: 'connected', phone },
    })
    expect((await shop.call(startSetup)).status).toBe(409)
    await app.drainJobs()
  })

  test('a setup that was cancelled or expired leaves the previous status, with the reason', async () => {
    const shop = await numberShop(app)
    const { body } = await shop.call(startSetup)
    const { state, code, error } = await shop.finish(body.setupUrl, aPhone(), 'deny')
    expect(code).toBeNull()
    expect(await confirm(shop, { state, error, errorDescription: 'They cancelled' })).toMatchObject({
      status: 200,
      body: { status: 'none', issue: { code: 'setup-denied' }, setup: null },
    })
    const late = await shop.call(startSetup)
    expect(await official(shop)).toMatchObject({ status: 'setup-pending', issue: null })
    await at(hours - 1)
    expect((await official(shop)).status).toBe('setup-pending')
    const back = await shop.finish(late.body.setupUrl, aPhone())
    await at(1)
    expect(await official(shop)).toMatchObject({
      status: 'none',
      issue: { code: 'setup-expired' },
      setup: null,
    })
    expect((await confirm(shop, { state: back.state, code: back.code })).status).toBe(409)
    expect((await shop.call(disconnect)).status).toBe(409)
    await shop.call(startSetup)
    expect((await shop.call(disconnect)).body).toMatchObject({ status: 'none', issue: null, setup: null })
  })

  test('the state is stored only as its hash; no answer, row or job contains a token', async () => {
    const shop = await numberShop(app)
    const { body } = await shop.call(startSetup)
    const back = await shop.finish(body.setupUrl, aPhone())
    const answer = await confirm(shop, { state: back.state, code: back.code })
    await shop.sandbox('number', { qualityRating: 'yellow' })
    const { token } = await app.database.root
      .selectFrom('sandbox_numbers')
      .select('token')
      .where('store_id', '=', shop.id)
      .executeTakeFirstOrThrow()
    const texts = await Promise.all(
      ['messaging_connections', 'messaging_setups', 'notifications', 'provider_events'].map((table) =>
        app.database.query<{ text: string }>(`select to_json(t)::text as text from ${table} t`, []),
      ),
    )
    const jobs = await app.database.query<{ text: string }>('select data::text as text from pgboss.job', [])
    const shown = JSON.stringify(await session(shop))
    const all = [...texts.flat(), ...jobs].map((each) => each.text)
    for (const text of [...all, shown, JSON.stringify(answer.body)]) {
      expect(text).not.toContain(token)
      expect(text).not.toContain(back.state)
      expect(text).not.toContain(back.code)
    }
  })

  test('the merchant is sent back only to our own site', async () => {
    const shop = await numberShop(app)
    const back = async (returnUrl: string) => (await shop.call(startSetup, { body: { returnUrl } })).status
    expect(await back(`https://${shop.slug}.example.com/settings`)).toBe(200)
    expect(await back('http://localhost:5173/back')).toBe(200)
    expect(await back('https://evil.example.com/')).toBe(400)
    expect(await back(`https://${shop.slug}.example.com.evil.com/`)).toBe(400)
    expect(await back(`https://${shop.slug}.example.com@evil.com/`)).toBe(400)
    expect(await back(`http://${shop.slug}.example.com/`)).toBe(400)
    expect(await back('javascript:alert(1)')).toBe(400)
  })

  test("the provider's page returns to our page, which confirms by itself", async () => {
    const shop = await numberShop(app)
    const { body } = await shop.call(startSetup)
    const form = new URLSearchParams({ phone: aPhone(), displayName: 'Loja', outcome: 'approve' })
    const posted = await app.fetch(
      new Request(`http://localhost${getPath(body.setupUrl)}`, { method: 'POST', body: form.toString() }),
      {},
    )
    expect(posted.status).toBe(303)
    const location = new URL(posted.headers.get('location')!)
    expect(location.pathname).toBe('/messaging/return')
    const visit = () => app.fetch(new Request(`http://localhost${location.pathname}${location.search}`), {})
    const returned = await visit()
    expect(returned.status).toBe(200)
    expect(await returned.text()).toContain('is connected')
    expect((await official(shop)).status).toBe('connected')
    expect((await visit()).status).toBe(409)
    const nowhere = await app.fetch(new Request('http://localhost/messaging/return?state=x&code=y'), {})
    expect(nowhere.status).toBe(404)
  })

  test('a number of another store is refused, and released at the provider', async () => {
    const one = await numberShop(app)
    const other = await numberShop(app)
    await one.linkPhone('+5511988001002')
    const answer = await other.connectOfficial('+5511988001002')
    expect(answer.status).toBe(409)
    expect((await official(other)).status).toBe('setup-pending')
    await app.drainJobs()
    expect(await other.sandbox('number', { qualityRating: 'red' })).toBe(404)
  })

  test('a connected number that the plan excludes sends nothing', async () => {
    const shop = await numberShop(app)
    await shop.connectOfficial(aPhone())
    await app.database.root
      .updateTable('subscriptions')
      .set({ plan_id: 'starter' })
      .where('store_id', '=', shop.id)
      .execute()
    await app.services.accessChanged(shop.id)
    expect(await session(shop)).toMatchObject({
      type: 'official',
      connected: false,
      issue: { code: 'not-connected' },
    })
  })
})

describe('a number under review', () => {
  test('a number under review becomes ready by callback', async () => {
    const shop = await numberShop(app)
    expect((await shop.connectOfficial(aPhone(), 'review')).body).toMatchObject({
      status: 'verifying',
      connected: false,
      displayNameStatus: 'pending',
      connectedAt: null,
    })
    expect((await session(shop)).type).toBeNull()
    expect((await shop.call(startSetup)).status).toBe(409)
    await shop.sandbox('number', { numberStatus: 'connected' })
    await app.drainJobs()
    expect(await official(shop)).toMatchObject({ status: 'connected', issue: null })
    expect((await session(shop)).type).toBe('official')
    expect(await shop.notices('messaging-connected')).toHaveLength(1)
  })

  test('a number under review becomes ready by revalidation, or is declined by callback', async () => {
    const shop = await numberShop(app)
    await shop.connectOfficial(aPhone(), 'review')
    expect((await shop.call(revalidate)).body).toMatchObject({ status: 'verifying' })
    await at(5_000)
    expect((await shop.call(revalidate)).body).toMatchObject({
      status: 'connected',
      displayNameStatus: 'approved',
    })

    const other = await numberShop(app)
    await other.connectOfficial(aPhone(), 'review')
    await other.sandbox('number', { displayNameStatus: 'declined' })
    await app.drainJobs()
    expect(await official(other)).toMatchObject({
      status: 'error',
      issue: { code: 'display-name-declined' },
      displayNameStatus: 'declined',
    })
    expect(await other.notices('official-number-issue')).toHaveLength(1)
    await other.call(startSetup)
    expect((await official(other)).status).toBe('setup-pending')
    await at(hours)
    expect(await official(other)).toMatchObject({ status: 'error', issue: { code: 'setup-expired' } })
  })
})

describe('revalidating', () => {
  test('revalidating finds an issue and its end; an unavailable provider changes nothing', async () => {
    const shop = await numberShop(app)
    expect((await shop.call(revalidate)).status).toBe(409)
    await shop.connectOfficial(aPhone())
    await shop.sandbox('number', { tokenValid: false })
    await app.drainJobs()
    expect((await official(shop)).status).toBe('connected')
    await at(minutes)
    const checkedAt = app.clock.now().toISOString()
    expect((await shop.call(revalidate)).body).toMatchObject({
      status: 'error',
      connected: false,
      issue: { code: 'token-expired' },
      checkedAt,
    })
    await shop.call(revalidate)
    expect(await shop.notices('official-number-issue')).toHaveLength(1)
    expect(await session(shop)).toMatchObject({ type: 'official', issue: { code: 'token-expired' } })

    await shop.sandbox('provider', { mode: 'down' })
    await at(minutes)
    expect((await shop.call(revalidate)).status).toBe(503)
    expect((await official(shop)).checkedAt).toBe(checkedAt)
    await shop.sandbox('provider', { mode: 'up' })
    await shop.sandbox('number', { tokenValid: true })
    expect((await shop.call(revalidate)).body).toMatchObject({
      status: 'connected',
      issue: null,
      checkedAt: app.clock.now().toISOString(),
    })
    await at(24 * hours)
    expect((await official(shop)).isStale).toBe(false)
    await at(1)
    expect((await official(shop)).isStale).toBe(true)
    await app.drainJobs()
    expect((await official(shop)).isStale).toBe(false)
  })

  test('an unfinished setup is reported; a recovered number has neither an issue nor a setup', async () => {
    const shop = await numberShop(app)
    const first = await shop.call(startSetup)
    const waiting = await shop.call(revalidate)
    expect([waiting.status, waiting.body.error.message]).toEqual([
      409,
      `The setup of the official number is not finished: finish it at the provider before ${first.body.expiresAt}, or start a new one`,
    ])
    await shop.connectOfficial(aPhone())
    await shop.sandbox('number', { tokenValid: false })
    await shop.call(revalidate)
    const again = await shop.call(startSetup)
    expect(await official(shop)).toMatchObject({ status: 'setup-pending' })
    await shop.sandbox('number', { tokenValid: true })
    const well = { status: 'connected', issue: null, setup: null }
    expect((await shop.call(revalidate)).body).toMatchObject(well)
    const back = await shop.finish(again.body.setupUrl, aPhone())
    expect((await confirm(shop, { state: back.state, code: back.code })).status).toBe(409)
    await at(2 * hours)
    expect(await official(shop)).toMatchObject(well)
  })

  test('a number that ends in 6 is gone at its first revalidation; no store takes a number back from another', async () => {
    const shop = await numberShop(app)
    const phone = aPhone('6')
    await shop.connectOfficial(phone)
    expect((await shop.call(revalidate)).body).toMatchObject({ issue: { code: 'number-removed' } })

    const one = await numberShop(app)
    const other = await numberShop(app)
    const number = aPhone()
    await one.connectOfficial(number)
    await one.sandbox('number', { tokenValid: false })
    await one.call(revalidate)
    expect((await other.connectOfficial(number)).status).toBe(200)
    await one.sandbox('number', { tokenValid: true })
    expect((await one.call(revalidate)).body).toMatchObject({
      status: 'error',
      issue: { code: 'number-removed' },
    })
  })

  test('a send with bad credentials triggers the revalidation', async () => {
    const shop = await numberShop(app)
    await shop.connectOfficial(aPhone())
    await app.drainJobs()
    await shop.sandbox('number', { tokenValid: false })
    const ctx = await shop.context()
    const message = { phone: '+5511988887777', content: { kind: 'text', text: 'Oi', media: null } } as const
    expect(await sending.deliver(ctx, message, `dm_${ctx.newId()}_1`)).toEqual({ outcome: 'disconnected' })
    await app.drainJobs()
    expect(await official(shop)).toMatchObject({ status: 'error', issue: { code: 'token-expired' } })
  })
})
