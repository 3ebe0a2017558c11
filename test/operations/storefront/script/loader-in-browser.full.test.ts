import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test } from 'vitest'
import saveActions from '#operations/bars/actions/api/save-settings'
import createAlert from '#operations/bars/alerts/api/create-alert'
import saveCountdown from '#operations/bars/countdown/api/save-settings'
import saveFreeShipping from '#operations/bars/free-shipping/api/save-settings'
import saveSettings from '#operations/capture/popup/api/save-settings'
import createButton from '#operations/messaging/button/api/create-button'
import { hasChromium, openPage, servedApp } from '#test/support/browser'
import { whenFileEnds } from '#test/support/closing'
import { connectedStore } from '#test/support/platform'

const { app, url } = await servedApp()

/** A shop's own server, on another origin: every address answers one page with the loader. */
async function shopSite(loader: string): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8')
    response.end(
      `<!doctype html><html><head><title>Caneca</title><link rel="icon" href="data:,">
      <script>window.storefrontPage = { page: 'product', productId: '1001' }</script>
      <script async src="${loader}"></script></head><body><main>A shop</main></body></html>`,
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  whenFileEnds(async () => {
    server.closeAllConnections()
    await new Promise<void>((resolve) => void server.close(() => resolve()))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

test.skipIf(!hasChromium)(
  'in a browser: bars, button and alerts are drawn on a shop of another origin, and counted',
  async () => {
    const shop = await connectedStore(app, { locale: 'pt-BR' })
    await shop.call(saveFreeShipping, { body: { isEnabled: true, threshold: 199 } })
    const endLocal = new Date(app.clock.ms() + 86_400_000).toISOString().slice(0, 16)
    await shop.call(saveCountdown, {
      body: {
        isEnabled: true,
        countdown: { isEnabled: true, endLocal },
        announcements: [{ text: '<b>Novidades</b>', linkUrl: '/novidades' }],
      },
    })
    await shop.call(saveActions, {
      body: { isEnabled: true, actions: [{ type: 'link', label: 'Ofertas', target: '/ofertas' }] },
    })
    await shop.call(createButton, { body: { isEnabled: true, phone: '+5511988887777', label: 'Chat' } })
    await shop.call(createAlert, {
      body: { alertType: 'recent-purchases', isEnabled: true, initialDelaySeconds: 0, displaySeconds: 60 },
    })
    await shop.sell({ paymentStatus: 'paid' })

    const { page, asked, faults } = await openPage()
    // Headless browsers count as bots.
    await page.setExtraHTTPHeaders({ 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0' })
    const site = await shopSite(`${url}/storefront/${shop.publicId}/loader.js`)
    await page.goto(`${site}/products/caneca?mk=token`)
    await page.getByText('Frete grátis acima de R$').waitFor()
    await page.getByText(/Termina em 2[67]:\d\d:\d\d/).waitFor()
    await page.getByText('<b>Novidades</b>').waitFor()
    expect(await page.getByRole('link', { name: 'Ofertas' }).getAttribute('href')).toBe('/ofertas')
    expect(await page.getByRole('link', { name: 'Chat' }).getAttribute('href')).toContain(
      'https://wa.me/5511988887777?text=Ol%C3%A1!%20Preciso%20de%20ajuda%20com%20Caneca',
    )
    await page.getByText('Ana comprou Avental').waitFor()
    const [alert, chat] = await Promise.all([
      page.getByText('Ana comprou Avental').boundingBox(),
      page.getByRole('link', { name: 'Chat' }).boundingBox(),
    ])
    expect(alert!.x + alert!.width).toBeLessThan(chat!.x)

    const cart = JSON.stringify({ detail: { total: 150, items: [{ productId: '1002', total: 150 }] } })
    await page.evaluate(`document.dispatchEvent(new CustomEvent('storefront:cart', ${cart}))`)
    await page.getByText(/Faltam só R\$\s49,00/).waitFor()

    const events = () =>
      app.database.root
        .selectFrom('storefront_events')
        .select(['type', 'widget', 'resource_id', 'product_id'])
        .where('store_id', '=', shop.id)
        .orderBy('widget')
        .execute()
    await expect.poll(events).toEqual([
      { type: 'impression', widget: 'fomo-alert', resource_id: 'recent-purchases', product_id: null },
      { type: 'impression', widget: 'messaging-button', resource_id: '', product_id: null },
      { type: 'product-view', widget: 'page', resource_id: '', product_id: '1001' },
    ])
    expect(
      asked.every(
        (address) => address.startsWith(url) || address.startsWith(site) || address.startsWith('data:'),
      ),
    ).toBe(true)
    expect(faults).toEqual([])
  },
)

test.skipIf(!hasChromium)(
  'in a browser: a subscriber unsubscribes by button, by keyboard, and by the page behind the link',
  async () => {
    const shop = await connectedStore(app, { locale: 'en' })
    const saved = await shop.call(saveSettings, {
      body: {
        isEnabled: true,
        coupon: { enabled: true, mode: 'shared', code: 'WELCOME10', type: 'percentage', value: 10 },
        display: { delaySeconds: 0, frequency: 'always', hideAfterSubscribe: false },
        design: { customCss: '.storefront-popup { letter-spacing: 1px }' },
      },
    })
    expect(saved.status).toBe(200)
    const { page, faults } = await openPage()
    await page.setExtraHTTPHeaders({ 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0' })
    const site = await shopSite(`${url}/storefront/${shop.publicId}/loader.js`)
    const dialog = page.getByRole('dialog')
    const open = async () => {
      await page.goto(site)
      await dialog.waitFor()
    }
    const subscribe = async (email: string) => {
      await open()
      // A form sent two seconds after it was loaded does not count as a bot's.
      await app.advance(2000)
      await page.getByLabel('Your email').fill(email)
      await page.getByRole('checkbox').check()
      await page.getByRole('button', { name: 'Subscribe' }).click()
    }
    await subscribe('ana@example.com')
    await page.getByText('WELCOME10').waitFor()
    // The merchant's own CSS applies, by the documented class name.
    const spacing = await page.evaluate(
      `getComputedStyle(document.querySelector('store-popup').shadowRoot.querySelector('dialog')).letterSpacing`,
    )
    expect(spacing).toBe('1px')
    await page.getByRole('button', { name: 'Continue shopping' }).click()
    await dialog.waitFor({ state: 'detached' })

    await subscribe('ana@example.com')
    await page.getByText('You are on the list already.').waitFor()
    const keys = await app.database.query<{ key: string; status: number }>(
      'select key, status from idempotency_keys where store_id = $1 order by created_at',
      [shop.id],
    )
    // One key per filling, also from another site.
    expect(keys.map(({ key, status }) => [key.split(' ')[1], status])).toEqual([
      ['/newsletter/subscribers', 201],
      ['/newsletter/subscribers', 200],
    ])
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })

    await open()
    await page.mouse.click(5, 5)
    await dialog.waitFor({ state: 'detached' })
    await open()
    await page.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(faults).toEqual([])
  },
)

test.skipIf(!hasChromium)(
  'in a browser: a popup larger than a phone keeps its fields and its close button reachable, in each layout',
  async () => {
    const shop = await connectedStore(app, { locale: 'en' })
    const { page } = await openPage()
    await page.setExtraHTTPHeaders({ 'user-agent': 'Mozilla/5.0 (X11; Linux x86_64) Chrome/140.0' })
    const site = await shopSite(`${url}/storefront/${shop.publicId}/loader.js`)
    const dialog = page.getByRole('dialog')
    for (const [width, height] of [
      [1280, 800],
      [390, 300],
    ] as const) {
      await page.setViewportSize({ width, height })
      for (const layout of ['modal', 'fullscreen', 'slide-in', 'bar'] as const) {
        const saved = await shop.call(saveSettings, {
          body: {
            isEnabled: true,
            layout,
            texts: { description: 'News of all that is made here. '.repeat(10).trim() },
            fields: { phone: { enabled: true, required: false } },
            display: { delaySeconds: 0, frequency: 'always' },
          },
        })
        expect([layout, saved.status]).toEqual([layout, 200])
        await page.goto(site)
        await dialog.waitFor()
        const box = (await dialog.boundingBox())!
        const field = (await page.getByLabel('Your email').boundingBox())!
        const inside = { left: field.x >= box.x, right: field.x + field.width <= box.x + box.width - 20 }
        const onScreen = { top: box.y >= 0, bottom: box.y + box.height <= height }
        expect([layout, width, inside, onScreen]).toEqual([
          layout,
          width,
          { left: true, right: true },
          { top: true, bottom: true },
        ])
        await page.getByRole('button', { name: 'No, thank you' }).click()
        await dialog.waitFor({ state: 'detached' })
      }
    }
  },
)
