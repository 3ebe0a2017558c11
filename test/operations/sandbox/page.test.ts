import { describe, expect, test } from 'vitest'
import { hasChromium, openPage, servedApp } from '#test/support/browser'
import { type Shop, store } from '#test/support/store'

const { app, url } = await servedApp()

/** Opens the sandbox page of a store in a real browser. */
async function openSandbox(shop: Shop) {
  const { page, asked, faults } = await openPage()
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
  test('the page data of an unknown store is a 404, a known store gets its own', async () => {
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
  test('a phone is paired and a customer answered', async () => {
    const shop = await store(app)
    const session = await shop.request('POST', '/messaging/session', { body: {} })
    expect(session.body.qr.code).not.toBeNull()
    const { page, done, press, clean } = await openSandbox(shop)
    await page.locator('#scan-code', { hasText: 'A QR code is ready' }).waitFor()
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
})
