import { expect, test } from 'vitest'
import createAlert from '#operations/bars/alerts/api/create-alert'
import createButton from '#operations/messaging/button/api/create-button'
import { hasChromium, servedApp } from '#test/support/browser'
import { demoShop, expectAccessible } from '#test/support/demo-shop'
import { sendEvents } from '#test/support/storefront'

const { app, url } = await servedApp()

test.skipIf(!hasChromium).each([1280, 390])(
  'alerts stack in their corner, pause on hover, close without a click, and respect the session limit, %i wide',
  async (width) => {
    const { shop, page, open, faults } = await demoShop(app, url, { width })
    await shop.call(createButton, {
      body: { isEnabled: true, phone: '+5511988887777', label: 'Chat', backgroundColor: '#075e54' },
    })
    const common = { isEnabled: true, initialDelaySeconds: 0, intervalSeconds: 3 }
    const created = await Promise.all([
      shop.call(createAlert, {
        body: {
          ...common,
          alertType: 'recent-purchases',
          text: '{{firstName}} comprou {{productName}} {{timeAgo}}',
          displaySeconds: 2,
          maxPerPage: 2,
          maxPerSession: 2,
        },
      }),
      shop.call(createAlert, {
        body: {
          ...common,
          alertType: 'product-views',
          minCount: 1,
          displaySeconds: 60,
          linkToProduct: false,
        },
      }),
      shop.call(createAlert, {
        body: { ...common, alertType: 'live-visitors', minCount: 1, pages: ['home'] },
      }),
    ])
    expect(created.map(({ status }) => status)).toEqual([201, 201, 201])
    await shop.sell({ paymentStatus: 'paid' })
    await shop.sell({ paymentStatus: 'paid' })
    await sendEvents(shop, [{ type: 'product-view', widget: 'page', productId: '1001' }])
    await app.advance(3 * 3_600_000)
    await open('/products/1001')
    const bought = page.getByText('Ana comprou')
    const views = page.getByText('visualizações nas últimas')
    await bought.waitFor()
    // Hovering keeps it longer than its two seconds.
    await bought.hover()
    await views.waitFor()
    // Text and age are in the shopper's language.
    expect(await bought.textContent()).toContain('há 3 horas')
    await expectAccessible(page)
    const log = page.getByRole('log', { name: 'O que acontece na loja' })
    expect([await log.count(), await log.getAttribute('aria-live')]).toEqual([1, 'polite'])
    const alerts = page.locator('store-alerts [part=alert]')
    const boxes = async () =>
      Promise.all(
        [...(await alerts.all()), page.getByRole('link', { name: 'Chat' })].map((each) => each.boundingBox()),
      )
    const [one, other, chat] = (await boxes()).map((box) => box!)
    for (const [a, b] of [
      [one!, other!],
      [one!, chat!],
      [other!, chat!],
    ] as const) {
      const isApart =
        a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y
      expect([a, b, isApart]).toEqual([a, b, true])
    }

    await page.waitForTimeout(2000)
    expect(await bought.count()).toBe(1)
    await page.mouse.move(width / 2, 5)
    await bought.waitFor({ state: 'detached' })
    await bought.waitFor()
    const closing = alerts.filter({ hasText: 'comprou' }).getByRole('button', { name: 'Fechar' })
    await closing.focus()
    await page.waitForTimeout(2500)
    await closing.click()
    await bought.waitFor({ state: 'detached' })
    await page.waitForTimeout(4000)
    expect([await bought.count(), await views.count()]).toEqual([0, 1])
    // The session limit applies on the next page too.
    await open('/products/1001')
    await views.waitFor()
    await page.waitForTimeout(1500)
    expect(await bought.count()).toBe(0)

    const counted = () =>
      app.database.query<{ resource_id: string; impressions: number; clicks: number }>(
        `select resource_id, impressions, clicks from widget_daily
         where store_id = $1 and widget = 'fomo-alert' order by resource_id`,
        [shop.id],
      )
    // An impression counts once per visitor and half hour.
    await expect.poll(counted).toEqual([
      { resource_id: 'product-views', impressions: 1, clicks: 0 },
      { resource_id: 'recent-purchases', impressions: 1, clicks: 0 },
    ])
    expect(faults).toEqual([])
  },
)
