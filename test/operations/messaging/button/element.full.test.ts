import { expect, test } from 'vitest'
import createButton from '#operations/messaging/button/api/create-button'
import getButton from '#operations/messaging/button/api/get-button'
import updateButton from '#operations/messaging/button/api/update-button'
import { hasChromium, servedApp } from '#test/support/browser'
import { demoShop, expectAccessible } from '#test/support/demo-shop'

const { app, url } = await servedApp()

/** The merchant is responsible for the contrast of their own colours. */
const colours = { backgroundColor: '#075e54', iconColor: '#ffffff' }
const attendants = [
  { name: 'Marco', role: 'Vendas', phone: '+5511940001001' },
  { name: 'Ada', phone: '+5511940001002' },
]

test.skipIf(!hasChromium).each([1280, 390])(
  'one choice counts one click, closing counts none, and the layout stays, %i wide',
  async (width) => {
    const { shop, page, open, faults } = await demoShop(app, url, { width })
    const created = await shop.call(createButton, {
      body: {
        isEnabled: true,
        ...colours,
        offsetX: 33,
        offsetY: 44,
        mobileOffsetY: 99,
        size: 60,
        tooltip: 'Posso ajudar?',
        tooltipDelaySeconds: 1,
        message: 'Oi, {{storeName}}: {{productName|a loja}} !',
        attendants,
      },
    })
    expect(created.status).toBe(201)
    // The chat opens without leaving the store.
    await page.context().route('https://wa.me/**', (route) => route.fulfill({ body: 'chat' }))
    await open()
    const button = page.getByRole('button', { name: 'Converse com a gente' })
    await button.waitFor()
    const box = (await button.boundingBox())!
    const { height } = page.viewportSize()!
    const inner = await page.evaluate<number>('document.documentElement.clientWidth')
    expect({
      right: inner - box.x - box.width,
      bottom: height - box.y - box.height,
      size: box.height,
    }).toEqual({
      right: 33,
      bottom: width < 768 ? 99 : 44,
      size: 60,
    })
    await page.getByText('Posso ajudar?').waitFor()
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Fechar' }).click()
    expect(await page.getByText('Posso ajudar?').count()).toBe(0)

    await button.click()
    const choice = page.getByRole('dialog', { name: 'Com quem você quer falar?' })
    await choice.waitFor()
    expect(await button.getAttribute('aria-expanded')).toBe('true')
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await choice.waitFor({ state: 'detached' })
    await button.click()
    const link = choice.getByRole('link', { name: 'Marco' })
    expect(await link.getAttribute('href')).toMatch(
      /^https:\/\/wa\.me\/5511940001001\?text=Oi%2C%20Shop%20\d+%3A%20a%20loja!$/,
    )
    const [chat] = await Promise.all([page.waitForEvent('popup'), link.click()])
    await chat.close()
    const counted = async () => {
      const { body } = await shop.call(getButton)
      return [body.impressions30d, body.clicks30d]
    }
    await expect.poll(counted).toEqual([1, 1])
    expect(faults).toEqual([])
  },
)

test.skipIf(!hasChromium)(
  'outside its hours the button says so, or is hidden; on other pages it is hidden too',
  async () => {
    const { shop, page, open, faults } = await demoShop(app, url)
    const { body } = await shop.call(createButton, {
      body: {
        isEnabled: true,
        ...colours,
        phone: '+5511988887777',
        label: 'Fale conosco',
        position: 'bottom-left',
        // A Friday, 9:00 in São Paulo.
        schedule: {
          isEnabled: true,
          hours: [{ day: 'fri', start: '10:00', end: '18:00' }],
          outside: 'show',
          outsideMessage: 'Voltamos às 10h.',
        },
        pageMode: 'exclude',
        pagePatterns: ['*/cart'],
      },
    })
    const change = (fields: object) =>
      shop.call(updateButton, { params: { messagingButtonId: body.id }, body: fields })
    const link = page.getByRole('link', { name: 'Fale conosco' })
    // Bypasses the browser's cache.
    await page.route('**/widgets?*', (route) => route.continue())
    const isShown = async (path: string, isThere: boolean) => {
      await open(path)
      if (isThere) return link.waitFor()
      await page.waitForLoadState('networkidle')
      expect(await link.count()).toBe(0)
    }
    await isShown('', true)
    expect((await link.boundingBox())!.x).toBe(20)
    await page.getByText('Voltamos às 10h.').waitFor()
    await expectAccessible(page)
    await isShown('/cart', false)
    await change({ schedule: { outside: 'hide' } })
    await isShown('', false)
    await change({ schedule: { hours: [{ day: 'fri', start: '08:00', end: '10:00' }] } })
    await isShown('', true)
    await change({ devices: 'mobile' })
    await isShown('', false)
    expect(faults).toEqual([])
  },
)
