import { expect, test } from 'vitest'
import createPreview from '#operations/capture/popup/api/create-preview'
import getMetrics from '#operations/capture/popup/api/get-metrics'
import saveSettings from '#operations/capture/popup/api/save-settings'
import { hasChromium, servedApp } from '#test/support/browser'
import { readSubscribers } from '#test/support/capture'
import { demoShop, expectAccessible, getFocusedText } from '#test/support/demo-shop'

const { app, url } = await servedApp()

const coupon = { mode: 'shared', code: 'RODA10', type: 'percentage', value: 10 }
const prizes = [
  { label: '10% de desconto', color: '#6366f1', probability: 99.99, coupon },
  { label: 'Nada', color: '#fef3c7', probability: 0.01, coupon: null },
]
const atOnce = { delaySeconds: 0, frequency: 'always' }

async function opened(width: number, settings: object) {
  const shown = await demoShop(app, url, { width })
  const { page, shop } = shown
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const save = async (body: object) => {
    const saved = await shop.call(saveSettings, { body: { isEnabled: true, ...body } })
    expect([saved.status, saved.body.error]).toEqual([200, undefined])
  }
  await save(settings)
  const dialog = page.getByRole('dialog')
  const focused = () => getFocusedText(page)
  return { ...shown, save, dialog, focused }
}

test.skipIf(!hasChromium).each([1280, 390])(
  "a shopper who spins the wheel wins the server's prize, and sees which fields are missing, %i wide",
  async (width) => {
    const { page, shop, open, dialog, focused, faults } = await opened(width, {
      roulette: { enabled: true, prizes },
      display: { ...atOnce, hideAfterSubscribe: true },
      fields: { phone: { enabled: true, required: false } },
    })
    // With reduced motion the wheel does not turn.
    if (width === 390) await page.emulateMedia({ reducedMotion: 'reduce' })
    await open()
    await dialog.waitFor()
    expect(await focused()).toBe('✕')
    await page.getByRole('img', { name: 'Roleta de prêmios: 10% de desconto e Nada' }).waitFor()
    await expectAccessible(page)
    await page.setViewportSize({ width: 320, height: 640 })
    const narrow = (await dialog.boundingBox())!
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth')
    expect([narrow.x >= 0, narrow.x + narrow.width <= 320, wide]).toEqual([true, true, 320])
    await page.setViewportSize({ width, height: 800 })

    await page.getByRole('button', { name: 'Girar' }).click()
    await page.getByText('Preencha este campo.').waitFor()
    await page.getByText('Marque para continuar.').waitFor()
    expect(await focused()).toBe('email')
    await expectAccessible(page)
    await page.getByLabel('Seu e-mail').fill('ana@example.com')
    // The browser accepts this number, the API does not.
    await page.getByLabel('Seu telefone').fill('12')
    await page.getByRole('checkbox').check()
    await app.advance(2000)
    await page.getByRole('button', { name: 'Girar' }).click()
    await page.getByText('Confira o telefone.').waitFor()
    expect(await focused()).toBe('phone')
    await page.getByLabel('Seu telefone').fill('')
    await page.getByRole('button', { name: 'Girar' }).click()

    await page.getByText('RODA10').waitFor()
    const disc = page.locator('store-popup .disc')
    expect(await disc.getAttribute('style')).toContain('rotate(1710deg)')
    await page.getByRole('button', { name: 'Copiar' }).click()
    await page.getByRole('button', { name: 'Copiado' }).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('RODA10')
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })

    expect(await readSubscribers(shop)).toMatchObject([
      { email: 'ana@example.com', prize_label: '10% de desconto', coupon_code: 'RODA10' },
    ])
    const counted = async () => {
      const { body } = await shop.call(getMetrics)
      return [body.impressions, body.subscribers]
    }
    await expect.poll(counted).toEqual([1, 1])
    const closes = await app.database.query<{ n: number }>(
      `select coalesce(sum(closes), 0)::int as n from widget_daily where store_id = $1 and widget = 'newsletter'`,
      [shop.id],
    )
    // A subscriber did not dismiss it.
    expect(closes).toEqual([{ n: 0 }])

    await open('/products/1001')
    await page.locator('store-contact-form, form[data-buy]').first().waitFor()
    await page.waitForLoadState('networkidle')
    expect(await dialog.count()).toBe(0)
    // The response to the invalid phone.
    expect(faults).toEqual([expect.stringContaining('400')])
  },
)

test.skipIf(!hasChromium)(
  'a slide-in waits behind its teaser, takes the focus on opening, and returns it',
  async () => {
    const { page, shop, open, dialog, focused, faults } = await opened(390, {
      layout: 'slide-in',
      position: 'bottom-left',
      display: { delaySeconds: null, teaserEnabled: true, teaserText: 'Ganhe 10%', frequency: 'session' },
    })
    await open()
    const teaser = page.getByRole('button', { name: 'Ganhe 10%' })
    await teaser.waitFor()
    const { x, y } = (await teaser.boundingBox())!
    expect([x < 40, y > 600]).toEqual([true, true])
    await expectAccessible(page)
    expect(await dialog.count()).toBe(0)
    await teaser.click()
    await dialog.waitFor()
    expect(await focused()).toBe('✕')
    await expectAccessible(page)
    // The page next to it stays usable.
    await page.locator('header .name').click({ trial: true })
    await page.waitForTimeout(1200)
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await expect.poll(focused).toBe('Ganhe 10%')
    const counted = () =>
      app.database.query<{ impressions: number; clicks: number; closes: number }>(
        `select impressions, clicks, closes from widget_daily where store_id = $1 and widget = 'newsletter'`,
        [shop.id],
      )
    await expect.poll(counted).toEqual([{ impressions: 1, clicks: 0, closes: 1 }])
    expect(faults).toEqual([])
  },
)

test.skipIf(!hasChromium)(
  'the popup appears when and where its settings allow, unless a preview is requested',
  async () => {
    const { page, shop, open, dialog, save, faults } = await opened(1280, {
      layout: 'bar',
      position: 'top',
      display: { ...atOnce, pageMode: 'include', pagePatterns: ['*/products/*'] },
    })
    const isShown = async (path: string, isThere: boolean) => {
      await open(path)
      if (isThere) return dialog.waitFor()
      await page.waitForLoadState('networkidle')
      expect(await dialog.count()).toBe(0)
    }
    await isShown('', false)
    await isShown('/products/1001', true)
    const header = (await page.locator('header').boundingBox())!
    // It covers the page without moving it.
    expect(header.y).toBe(0)
    await expectAccessible(page)
    await save({ display: { ...atOnce, pageMode: 'all', frequency: 'session' } })
    await isShown('/products/1001', false)
    await save({ display: { frequency: 'always', devices: 'mobile' } })
    await isShown('', false)
    await save({ display: { devices: 'all', delaySeconds: null, scrollPercent: 50 } })
    await isShown('/products/1001', false)
    await page.setViewportSize({ width: 1280, height: 300 })
    await page.mouse.wheel(0, 2000)
    await dialog.waitFor()
    await save({ isEnabled: false })
    const { body } = await shop.call(createPreview, {
      body: { settings: { layout: 'fullscreen', texts: { title: 'Ainda não salvo' } } },
    })
    await isShown(new URL(body.url).search, true)
    await page.getByRole('heading', { name: 'Ainda não salvo' }).waitFor()
    await expectAccessible(page)
    expect(faults).toEqual([])
  },
)

test.skipIf(!hasChromium)(
  'pictures are placed as configured, and leave no gap if they do not load',
  async () => {
    const { page, open, dialog, save, faults } = await opened(1280, {})
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      'base64',
    )
    await page.route('https://pictures.example/*', (route) =>
      route.fulfill({
        contentType: 'image/png',
        body: route.request().url().endsWith('logo.png') ? 'gone' : png,
      }),
    )
    const image = page.locator('store-popup .image')
    const design = {
      imageUrl: 'https://pictures.example/a.png',
      logoUrl: 'https://pictures.example/logo.png',
    }
    for (const imagePosition of ['left', 'right', 'top', 'background']) {
      await save({ design: { ...design, imagePosition }, display: atOnce })
      await open()
      await dialog.waitFor()
      await expect.poll(() => page.locator('store-popup .logo').count()).toBe(0)
      const [box, own, field] = await Promise.all(
        [dialog, image, page.getByLabel('Seu e-mail')].map(async (each) => (await each.boundingBox())!),
      )
      const middle = own!.x + own!.width / 2
      expect([imagePosition, own!.width > box!.width * 0.6]).toEqual([
        imagePosition,
        ['top', 'background'].includes(imagePosition),
      ])
      if (imagePosition === 'left') expect(middle).toBeLessThan(field!.x)
      if (imagePosition === 'right') expect(middle).toBeGreaterThan(field!.x + field!.width)
      if (imagePosition === 'background') expect(own!.height).toBeGreaterThan(box!.height - 2)
    }
    expect(faults).toEqual([])
  },
)
