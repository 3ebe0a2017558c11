import { expect, test } from 'vitest'
import createTestimonial from '#operations/reviews/testimonials/api/create-testimonial'
import saveSettings from '#operations/reviews/testimonials/api/save-testimonial-settings'
import { hasChromium, servedApp } from '#test/support/browser'
import { demoShop, expectAccessible } from '#test/support/demo-shop'

const { app, url } = await servedApp()

test.skipIf(!hasChromium).each([1280, 390])(
  'testimonials rotate automatically, by buttons and by keys, and can be stopped, %i wide',
  async (width) => {
    const { shop, page, open, faults } = await demoShop(app, url, { width })
    for (const n of [1, 2, 3, 4, 5]) {
      const body = { authorName: `Pessoa ${n}`, authorTitle: 'Recife', text: `Gostei ${n} vezes`, rating: 5 }
      expect((await shop.call(createTestimonial, { body })).status).toBe(201)
    }
    const save = async (body: Record<string, unknown>) =>
      expect((await shop.call(saveSettings, { body: { isEnabled: true, ...body } })).status).toBe(200)
    await save({ autoplay: true, autoplaySeconds: 3, pages: ['home'] })
    await open()
    const box = page.locator('store-testimonials')
    const track = box.getByRole('list').first()
    await box.scrollIntoViewIfNeeded()
    await box.getByText('Gostei 1 vezes').waitFor()
    await expectAccessible(page)
    const at = () => track.evaluate((each) => Math.round(Math.abs(each.scrollLeft)))
    const turned = (from: number) => expect.poll(at).not.toBe(from)
    await page.mouse.move(0, 0)
    await turned(0)

    await box.getByRole('button', { name: 'Parar de girar' }).click()
    await box.getByRole('button', { name: 'Girar sozinho' }).waitFor()
    await track.focus()
    await page.waitForTimeout(700)
    const before = await at()
    await page.keyboard.press('ArrowRight')
    await turned(before)
    await page.waitForTimeout(700)
    const after = await at()
    await box.getByRole('button', { name: 'Anterior' }).click()
    await turned(after)

    // Hovering pauses the rotation.
    await box.getByRole('button', { name: 'Girar sozinho' }).click()
    await page.waitForTimeout(700)
    const held = await at()
    await page.waitForTimeout(3500)
    expect(await at()).toBe(held)

    await page.emulateMedia({ reducedMotion: 'reduce' })
    await open()
    await box.scrollIntoViewIfNeeded()
    await box.getByRole('button', { name: 'Girar sozinho' }).waitFor()

    for (const layout of ['grid', 'list']) {
      await save({ layout, title: null })
      await open()
      await box.scrollIntoViewIfNeeded()
      await box.getByText('Gostei 5 vezes').waitFor()
      expect(await box.getByRole('button').count()).toBe(0)
    }
    await expectAccessible(page)
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(0)
    await open('/products/1001')
    await page.locator('store-stars, footer').first().waitFor()
    expect(await box.count()).toBe(0)
    expect(faults).toEqual([])
  },
)
