import { describe, expect, test } from 'vitest'
import createPreapproval from '#operations/subscription/billing/api/create-preapproval'
import { testApp } from '#test/support/app'
import { hasChromium, openPage, servedApp } from '#test/support/browser'
import { type Shop, store } from '#test/support/store'

const { app, url } = await servedApp()
const timeout = 90_000

/** The page of a shop, in a real browser. */
async function sandboxOf(shop: Shop) {
  const { page, asked, faults } = await openPage()
  page.setDefaultTimeout(20_000)
  await page.goto(`${url}/sandbox`)
  await page.getByLabel('Store', { exact: true }).selectOption(shop.slug)
  const done = (what: RegExp | string) => page.getByRole('status').getByText(what).waitFor()
  const press = async (name: string) => {
    await page.getByRole('button', { name, exact: true }).click()
    await done(`${name === 'Run due jobs' ? 'Due jobs' : name}: done`)
  }
  const clean = () => {
    expect(asked.filter((address) => !address.startsWith(url) && !address.startsWith('data:'))).toEqual([])
    expect(faults).toEqual([])
  }
  return { page, done, press, clean }
}

describe('the page', () => {
  test('is not there in production, nor are its endpoints and the clock', async () => {
    const closed = await testApp({ sandbox: false })
    for (const path of ['/sandbox', '/sandbox/page.js', '/sandbox/api/world', '/sandbox/api/clock']) {
      const answer = await closed.fetch(new Request(`http://localhost${path}`), { ip: '1.1.1.1' })
      expect([path, answer.status]).toEqual([path, 404])
    }
    const before = closed.clock.ms()
    const moved = await closed.fetch(
      new Request('http://localhost/sandbox/api/clock', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ advanceSeconds: 86_400 }),
      }),
      { ip: '1.1.1.1' },
    )
    expect(moved.status).toBe(404)
    expect(closed.clock.ms() - before).toBeLessThan(60_000)
  })

  test('the world of an unknown store is a 404, of a known one its own', async () => {
    const shop = await store(app)
    const get = async (query: string) => {
      const answer = await app.fetch(new Request(`${url}/sandbox/api/world${query}`), { ip: '1.1.1.1' })
      return { status: answer.status, body: await answer.json() }
    }
    expect((await get('?store=no-such-store')).status).toBe(404)
    expect((await get(`?store=${shop.slug}`)).body).toMatchObject({ messages: [], code: null, checkouts: [] })
  })
})

describe.skipIf(!hasChromium)('stories in a browser', () => {
  test('pair a phone and answer a customer', { timeout }, async () => {
    const shop = await store(app)
    const session = await shop.request('POST', '/messaging/session', { body: {} })
    expect(session.body.qr.code).not.toBeNull()
    const { page, done, press, clean } = await sandboxOf(shop)
    await page.getByText('A code waits').waitFor()
    await page.getByRole('button', { name: 'Scan the code' }).click()
    await done('Scan: done')
    await press('Run due jobs')
    expect((await shop.request('GET', '/messaging/session')).body.qr.status).toBe('connected')

    await page.getByLabel('Message to the store').fill('Do you ship to Lisbon?')
    await page.getByRole('button', { name: 'Send to the store' }).click()
    await done('Message to the store: done')
    await press('Run due jobs')
    const sent = await shop.request('POST', '/messaging/send-message', {
      body: { phone: '+5511988887777', text: 'Yes, in five days.' },
    })
    expect(sent.status).toBeLessThan(300)
    await press('Run due jobs')
    const phone = page.getByRole('article', { name: 'Phone +5511988887777' })
    await phone.getByText('Do you ship to Lisbon?').waitFor()
    await phone.getByText('Yes, in five days.').waitFor()
    await press('+1 minute')
    await press('Run due jobs')
    await phone.getByText('read', { exact: true }).waitFor()
    clean()
  })

  test('send a campaign and watch it be delivered', { timeout }, async () => {
    const shop = await store(app)
    await shop.request('POST', '/messaging/session', { body: {} })
    const { page, done, press, clean } = await sandboxOf(shop)
    await page.getByLabel('Phone of the store').fill('+5511977775555')
    await page.getByRole('button', { name: 'Scan the code' }).click()
    await done('Scan: done')
    await press('Run due jobs')

    const list = await shop.request('POST', '/campaigns/lists', { body: { name: 'Friends' } })
    for (const phone of ['+5511977770021', '+5511977770002', '+5511977770011']) {
      const added = await shop.request('POST', `/campaigns/lists/${list.body.id}/contacts`, {
        body: { phone },
      })
      expect(added.status).toBe(201)
    }
    const campaign = await shop.request('POST', '/campaigns', {
      body: { name: 'Spring', listId: list.body.id, content: { type: 'text', text: 'Spring is here' } },
    })
    expect(campaign.body).toMatchObject({ status: 'draft' })
    const sending = await shop.request('POST', `/campaigns/${campaign.body.id}/send`)
    expect(sending.body).toMatchObject({ status: 'queued' })
    await press('Run due jobs')
    await press('+1 minute')
    await press('Run due jobs')
    const messages = page.locator('#phones')
    await expect.poll(() => messages.getByText('Spring is here').count(), { timeout: 20_000 }).toBe(3)
    await expect.poll(() => messages.getByText('read', { exact: true }).count(), { timeout: 20_000 }).toBe(2)
    expect(await messages.getByText('failed', { exact: true }).count()).toBe(1)
    const { body } = await shop.request('GET', `/campaigns/${campaign.body.id}`)
    expect(body).toMatchObject({ status: 'sent', counters: { read: 2, failed: 1 } })
    clean()
  })

  test('pay a subscription', { timeout }, async () => {
    const shop = await store(app, { plan: null })
    const opened = await shop.call(createPreapproval, { body: { planId: 'growth', billingCycle: 'monthly' } })
    expect(opened.status).toBeLessThan(300)
    const { page, press, clean } = await sandboxOf(shop)
    await page
      .getByRole('list', { name: 'Checkouts that wait for the buyer' })
      .getByRole('link')
      .first()
      .click()
    await page.getByLabel(/card number/i).fill('4242424242424242')
    await page.getByLabel(/name|holder/i).fill('Olivia Stone')
    await page.getByLabel(/month/i).fill('12')
    await page.getByLabel(/year/i).fill('2039')
    await page.getByRole('button').first().click()
    await page.waitForURL(/billing\/return/)
    await page.goto(`${url}/sandbox`)
    await press('Run due jobs')
    const { body } = await shop.request('GET', '/subscription')
    expect(body).toMatchObject({ status: 'active', planId: 'growth' })
    clean()
  })
})
