/** Content of the sandbox page, handling of the store's key, and appearance. */
import { readFile } from 'node:fs/promises'
import { describe, expect, test } from 'vitest'
import { hasChromium, openPage, servedApp } from '#test/support/browser'
import { findViolations } from '#test/support/demo-shop'
import { connectedStore } from '#test/support/platform'
import { type Shop, store } from '#test/support/store'

const { app, url } = await servedApp()

const get = async (path: string) => {
  const answer = await app.fetch(new Request(`${url}${path}`), { ip: '127.0.0.1' })
  // biome-ignore lint/suspicious/noExplicitAny: tests look into any answer
  return { status: answer.status, body: (await answer.json()) as any }
}
const post = async (path: string, body: unknown): Promise<void> => {
  const headers = { 'content-type': 'application/json' }
  const request = new Request(`${url}/sandbox/api${path}`, {
    method: 'POST',
    headers,
    body: JSON.stringify(body),
  })
  expect([path, (await app.fetch(request, { ip: '127.0.0.1' })).status]).toEqual([path, 200])
}

/** A store with a connected number that customers can write to. */
async function createConnectedStore(): Promise<Shop> {
  const shop = await connectedStore(app)
  const { body } = await shop.request('POST', '/messaging/session', { body: {} })
  await post('/messaging/scan', { payload: body.qr.code.payload, phone: '+5511977776666' })
  await app.drainJobs()
  return shop
}

describe('endpoints of the page', () => {
  test('only the script modules of the folder are served', async () => {
    const answer = await app.fetch(new Request(`${url}/sandbox/parts/stories.js`), { ip: '127.0.0.1' })
    const text = await readFile(
      new URL('../../../operations/sandbox/client/parts/stories.js', import.meta.url),
      'utf8',
    )
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'text/javascript; charset=utf-8',
    ])
    expect(await answer.text()).toBe(text)
    for (const name of ['no-such.js', '..%2Fpage.js', '%2e%2e%2fpage.html']) {
      expect([name, (await get(`/sandbox/parts/${name}`)).status]).toEqual([name, 404])
    }
  })

  test('the timeline lists jobs, messages, mail and hooks of one store, newest first', async () => {
    const [shop, other] = [await createConnectedStore(), await store(app)]
    await shop.request('POST', '/messaging/send-message', {
      body: { phone: '+5511988887777', text: 'It is on its way.' },
    })
    await shop.request('GET', '/conversions/export')
    await app.drainJobs()
    const { data } = (await get(`/sandbox/api/timeline?store=${shop.slug}`)).body
    const kinds = new Set(data.map(({ kind }: { kind: string }) => kind))
    expect([...kinds].sort()).toEqual(['hook', 'job', 'mail', 'message'])
    const times = data.map(({ at }: { at: string }) => at)
    expect(times).toEqual(times.toSorted().reverse())
    expect(data).toContainEqual(
      expect.objectContaining({ kind: 'job', title: 'conversions-export', state: 'completed' }),
    )
    expect(data).toContainEqual(
      expect.objectContaining({ kind: 'mail', title: expect.stringContaining(shop.email) }),
    )
    const messages = data.filter(({ kind }: { kind: string }) => kind === 'message')
    expect(messages.map(({ title }: { title: string }) => title)).toEqual(['text to +5511988887777'])
    expect((await get(`/sandbox/api/timeline?store=${other.slug}`)).body.data).toEqual([])
    expect((await get('/sandbox/api/timeline?store=nobody')).status).toBe(404)
    expect((await get('/sandbox/api/timeline')).status).toBe(400)
  })

  test('the mail outbox is filtered by store', async () => {
    const [shop, other] = [await connectedStore(app), await store(app)]
    await shop.request('GET', '/conversions/export')
    await app.drainJobs()
    const subjects = async ({ slug }: Shop) =>
      (await get(`/sandbox/api/mail/outbox?store=${slug}`)).body.data.map(({ to }: { to: string }) => to)
    expect([await subjects(shop), await subjects(other)]).toEqual([[shop.email], []])
  })

  test('the page data contains no key', async () => {
    const shop = await store(app)
    const { body } = await get(`/sandbox/api/world?store=${shop.slug}`)
    expect(JSON.stringify(body)).not.toContain('mk_')
  })
})

describe.skipIf(!hasChromium)('in a browser', () => {
  test('the key is sent only to the API, and stays in the tab until it is deleted', async () => {
    const [shop, other] = [await createConnectedStore(), await store(app)]
    const { page, faults } = await openPage()
    const withKey: string[] = []
    page.on('request', (request) => {
      const sent = `${JSON.stringify(request.headers())}${request.url()}${request.postData() ?? ''}`
      if (sent.includes(shop.key)) withKey.push(new URL(request.url()).pathname)
    })
    await page.goto(`${url}/sandbox?store=${other.slug}`)
    await page.getByText('Without a key the page acts only as customers and providers.').waitFor()
    expect(await page.getByLabel('Store', { exact: true }).inputValue()).toBe(other.slug)
    await page.locator('[data-story="inbox"] > summary').click()
    const first = page.locator('[data-story="inbox"] .step').first()
    expect(await first.getByRole('button', { name: 'Do it' }).isDisabled()).toBe(true)
    await page.getByText('The store’s steps need its key').waitFor()

    const field = page.getByLabel('API key of a store')
    await field.fill('mk_live_wrong')
    await page.keyboard.press('Enter')
    await page
      .getByRole('status')
      .getByText(/^The key: /)
      .waitFor()
    expect(await page.getByText('The page acts as').count()).toBe(0)
    await field.fill(shop.key)
    await page.keyboard.press('Enter')
    await page.getByText('The page acts as').waitFor()
    expect(await page.getByLabel('Store', { exact: true }).inputValue()).toBe(shop.slug)
    expect(await field.inputValue()).toBe('')
    await page.locator('[data-story="stock"] > summary').click()
    await page.locator('[data-story="stock"] .step').first().getByRole('button', { name: 'Do it' }).click()
    await page.locator('[data-story="stock"] .step[data-done]').first().waitFor()
    expect(withKey.length).toBeGreaterThan(3)
    expect(withKey.filter((path) => !path.startsWith('/v1/'))).toEqual([])
    // The page masks the key; the copied command contains it.
    expect(await page.content()).not.toContain(shop.key)

    await page.reload()
    await page.getByLabel('Store', { exact: true }).selectOption(shop.slug)
    await page.getByText('The page acts as').waitFor()
    await page.getByRole('button', { name: 'Forget the key' }).click()
    await page.getByText('Without a key').waitFor()
    const readStored = () =>
      page.evaluate<string>('JSON.stringify([{ ...sessionStorage }, { ...localStorage }])')
    await expect.poll(readStored).not.toContain('mk_')

    await page.goto('about:blank')
    await page.goto(`${url}/sandbox#key=${shop.key}`)
    await page.getByText('The page acts as').waitFor()
    expect(page.url()).toBe(`${url}/sandbox`)
    // The browser logs the 401 of the wrong key itself.
    expect(faults.filter((fault) => !fault.includes('401'))).toEqual([])
  })

  test('a call copied as curl contains the key and is valid shell', async () => {
    const shop = await connectedStore(app)
    const { page } = await openPage()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'], { origin: url })
    await page.goto(`${url}/sandbox#key=${shop.key}`)
    await page.getByText('The page acts as').waitFor()
    await page.locator('[data-story="stock"] > summary').click()
    const step = page.locator('[data-story="stock"] .step').first()
    await step.getByText('Request and response').click()
    await step.getByRole('button', { name: /^Copy as curl/ }).click()
    await step.getByText('Copied').waitFor()
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    const { execFileSync } = await import('node:child_process')
    expect(copied).toContain(`-H 'authorization: Bearer ${shop.key}'`)
    // The shell parses it as intended.
    const read = execFileSync('sh', ['-c', copied.replace(/^curl/, 'printf "%s\\n"')], { encoding: 'utf8' })
    expect(read.trim().split('\n').slice(1)).toEqual([
      'POST',
      '-H',
      `authorization: Bearer ${shop.key}`,
      '-H',
      'content-type: application/json',
      '--data',
      '{"isEnabled":true,"allowEmails":true}',
      `${url}/v1/stock-notifications/settings`,
    ])
  })

  test('messages of customers are plain text with only web links', async () => {
    const shop = await createConnectedStore()
    const nasty =
      '<img src=x onerror="document.title=1"> javascript:alert(1) https://example.com/a"onclick="b'
    await post(`/messaging/${shop.slug}/inbound`, { phone: '+5511988880021', name: nasty, text: nasty })
    const { page, faults } = await openPage()
    await page.goto(`${url}/sandbox#key=${shop.key}`)
    const phone = page.getByRole('article', { name: 'Phone +5511988880021' })
    await phone.getByText('<img src=x').waitFor()
    expect(await phone.locator('img').count()).toBe(0)
    const links = phone.getByRole('link')
    expect(await links.count()).toBe(1)
    expect(await links.getAttribute('href')).toBe('https://example.com/a')
    expect(await page.title()).toBe('Sandbox')
    // Writing back from the phone works by keyboard.
    await phone.getByLabel('Write from +5511988880021').fill('And by keyboard')
    await page.keyboard.press('Enter')
    await phone.locator('.bubble:not(.from-store)').getByText('And by keyboard').waitFor()
    expect(faults).toEqual([])
  })

  test('the timeline shows the requests and filters by kind', async () => {
    const shop = await createConnectedStore()
    const { page, faults } = await openPage()
    await page.goto(`${url}/sandbox#key=${shop.key}`)
    await page.getByText('The page acts as').waitFor()
    await page.getByRole('button', { name: '+1 minute' }).click()
    const timeline = page.getByRole('list', { name: 'Timeline, newest first' })
    await timeline.getByText('POST /sandbox/api/clock').waitFor()
    const shown = (kind: string) => timeline.locator(`[data-kind="${kind}"]`).count()
    expect(await shown('job')).toBeGreaterThan(0)
    for (const kind of ['Jobs', 'Hooks', 'Messages', 'Mail'])
      await page.getByLabel(kind, { exact: true }).uncheck()
    expect([await shown('job'), await shown('hook')]).toEqual([0, 0])
    expect(await shown('request')).toBeGreaterThan(0)
    expect(faults).toEqual([])
  })

  test('charts match the statistics, and their tables have each day', async () => {
    const shop = await createConnectedStore()
    await shop.request('POST', '/messaging/send-message', { body: { phone: '+5511988887777', text: 'Hi' } })
    await app.drainJobs()
    const { daily } = (await shop.request('GET', '/subscription/usage')).body
    const { data } = (await shop.request('GET', '/conversions/summary?groupBy=day')).body
    const { page, faults } = await openPage()
    await page.goto(`${url}/sandbox#key=${shop.key}`)
    await page.getByRole('img', { name: /^Sends, 1 from/ }).waitFor()
    await page.getByRole('img', { name: /^Conversions, 0 from/ }).waitFor()
    await page.getByText('Sends as a table').click()
    const rows = page.getByRole('region', { name: 'Table: Sends' }).locator('tbody tr')
    expect(await rows.allInnerTexts()).toEqual(
      daily.map(({ date, used }: { date: string; used: number }) => `${date}\t${used}`),
    )
    expect(await page.locator('[aria-label="Table: Conversions"] tbody tr').count()).toBe(data.length)
    expect(faults).toEqual([])
  })

  test.each([
    [1280, 'light'],
    [390, 'light'],
    [390, 'dark'],
  ] as const)('at %i pixels, %s, nothing overflows and the page is accessible', async (width, scheme) => {
    const shop = await createConnectedStore()
    await shop.request('POST', '/messaging/send-message', {
      body: { phone: '+5511988887777', text: `https://example.com/${'long'.repeat(60)}` },
    })
    await app.drainJobs()
    const { page, faults } = await openPage()
    await page.emulateMedia({ colorScheme: scheme })
    await page.setViewportSize({ width, height: 844 })
    await page.goto(`${url}/sandbox#key=${shop.key}`)
    await page.getByText('The page acts as').waitFor()
    await page.locator('[data-story="exchange"] > summary').click()
    const step = page.locator('[data-story="exchange"] .step').first()
    await step.getByRole('button', { name: 'Do it' }).click()
    await page.locator('[data-story="exchange"] .step[data-done]').first().waitFor()
    await step.getByText('Request and response').click()
    await step.getByText('curl', { exact: true }).click()
    await page.getByText('Conversions as a table').click()
    await page.getByRole('button', { name: 'Search operations' }).click()
    await page.getByText('/v1/campaigns/:id/send').waitFor()
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(width)
    expect(await findViolations(page)).toEqual([])
    expect(faults).toEqual([])
  })

  test('the page links to the reference, the shop and the operations', async () => {
    const shop = await connectedStore(app)
    const { page } = await openPage()
    await page.goto(`${url}/sandbox#key=${shop.key}`)
    await page.getByText('The page acts as').waitFor()
    const elsewhere = page.getByRole('navigation', { name: 'Links' }).getByRole('link')
    const addresses = await Promise.all((await elsewhere.all()).map((each) => each.getAttribute('href')))
    expect(addresses).toEqual([
      '/docs',
      `/sandbox/shop/${shop.slug}`,
      '/v1/openapi.json',
      '#operations-title',
    ])
    for (const address of addresses.filter((each) => each!.startsWith('/'))) {
      const answer = await app.fetch(new Request(`${url}${address}`), { ip: '127.0.0.1' })
      expect([address, answer.status]).toEqual([address, 200])
    }
  })
})
