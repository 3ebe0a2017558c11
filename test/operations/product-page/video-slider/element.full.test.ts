import { expect, test } from 'vitest'
import getHome from '#operations/product-page/video-slider/api/get-home-slider'
import listSliders from '#operations/product-page/video-slider/api/list-sliders'
import saveHome from '#operations/product-page/video-slider/api/save-home-slider'
import saveSlider from '#operations/product-page/video-slider/api/save-slider'
import { hasChromium, servedApp } from '#test/support/browser'
import { picture, serveMedia, video } from '#test/support/demo-media'
import { demoShop, expectAccessible } from '#test/support/demo-shop'
import type { Shop } from '#test/support/store'

const { app, url } = await servedApp()

/** Both processors may be busy. */

const videos = [
  { videoUrl: video('one'), posterUrl: picture('one'), title: 'Em uso', linkedProductId: '1002' },
  { videoUrl: video('two'), posterUrl: picture('missing') },
  { videoUrl: video('missing'), posterUrl: picture('missing'), title: 'Não há' },
  ...['three', 'four', 'five', 'six'].map((name) => ({ videoUrl: video(name), title: name })),
]

const figures = async (shop: Shop) => {
  const { impressions, clicks } = (await shop.call(listSliders)).body.data[0]
  return [impressions, clicks]
}

interface Player {
  paused: boolean
  muted: boolean
  loop: boolean
  controls: boolean
}
const state = ({ paused, muted, loop, controls }: Player) => ({ paused, muted, loop, controls })

interface Hosting {
  shadowRoot: { childElementCount: number } | null
}
interface Focusable {
  getRootNode(): { activeElement: unknown }
}
const hasFocus = (each: Focusable) => each.getRootNode().activeElement === each

test.skipIf(!hasChromium).each([1280, 390])(
  'videos play while in view, can be stopped, and link to products, %i wide',
  async (width) => {
    const { shop, page, open, faults } = await demoShop(app, url, { width })
    await serveMedia(page)
    const save = async (body: object) => {
      const answer = await shop.call(saveSlider, { body: { productId: '1001', videos, ...body } })
      expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    }
    await save({ title: 'Veja de perto', placement: 'below-description' })
    await open('/products/1001')
    const slider = page.locator('[data-store-spot=below-description] store-video-slider')
    await slider.getByRole('heading', { name: 'Veja de perto' }).waitFor()
    await slider.scrollIntoViewIfNeeded()
    const first = slider.locator('video').first()
    const playing = { paused: false, muted: true, loop: true, controls: false }
    await expect.poll(() => first.evaluate(state)).toEqual(playing)
    // The unplayable video without a picture is missing.
    await expect.poll(() => slider.locator('li').count()).toBe(6)
    await expectAccessible(page)
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await slider.getByRole('button', { name: 'Próximo' }).click()
    await expect.poll(() => first.evaluate(({ paused }: Player) => paused)).toBe(true)
    await slider.getByRole('button', { name: 'Anterior' }).click()
    await expect.poll(() => first.evaluate(({ paused }: Player) => paused)).toBe(false)
    // While the list still scrolls, a click would stop it and move the video away.
    await expect.poll(() => slider.getByRole('button', { name: 'Anterior' }).isDisabled()).toBe(true)
    await slider.getByRole('button', { name: 'Pausar Em uso' }).click()
    await slider.getByRole('button', { name: 'Reproduzir Em uso' }).waitFor()
    await page.evaluate('scrollTo(0, 0)')
    await slider.scrollIntoViewIfNeeded()
    await page.waitForTimeout(1100)
    expect(await first.evaluate(({ paused }: Player) => paused)).toBe(true)
    await page.evaluate("addEventListener('click', (event) => event.preventDefault())")
    await slider.getByRole('link', { name: 'Avental R$ 100,00' }).click()
    await expect.poll(() => figures(shop)).toEqual([1, 1])
    // As stories: a dialog with one video at a time, which returns the focus.
    await save({ layout: 'stories', showControls: true, loop: false, placement: 'below-gallery' })
    await open('/products/1001')
    const stories = page.locator('[data-store-spot=below-gallery] store-video-slider')
    const opener = stories.getByRole('button', { name: 'Assistir: Em uso' })
    await opener.click()
    const dialog = stories.getByRole('dialog', { name: 'Veja de perto' })
    await dialog.getByText('1 de 7').waitFor()
    const large = dialog.locator('video')
    await expect.poll(() => large.evaluate(state)).toEqual({ ...playing, loop: false, controls: true })
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'Próximo' }).click()
    await dialog.getByText('2 de 7').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await opener.evaluate(hasFocus)).toBe(true)
    await expect.poll(() => figures(shop)).toEqual([1, 2])
    // Reduced motion: nothing plays by itself.
    await page.emulateMedia({ reducedMotion: 'reduce' })
    await save({ layout: 'carousel', showControls: false, placement: 'gallery' })
    await open('/products/1001')
    const still = page.locator('[data-store-spot=gallery] store-video-slider')
    await still.scrollIntoViewIfNeeded()
    await still.getByRole('button', { name: 'Reproduzir Em uso' }).waitFor()
    await page.waitForTimeout(500)
    expect(
      await still
        .locator('video')
        .first()
        .evaluate(({ paused }: Player) => paused),
    ).toBe(true)
    expect(faults.filter((each) => !each.includes('Failed to load resource'))).toEqual([])
  },
)

test.skipIf(!hasChromium).each([1280, 390])(
  'the home page has its own videos, also a floating one, %i wide',
  async (width) => {
    const { shop, page, open, faults } = await demoShop(app, url, { width })
    await serveMedia(page)
    const save = (body: object) => shop.call(saveHome, { body: { isEnabled: true, ...body } })
    await save({ videos: videos.slice(0, 2), placement: 'middle', autoplay: false })
    await open()
    const slider = page.locator('store-video-slider')
    await slider.getByRole('button', { name: 'Reproduzir Em uso' }).click()
    await slider.getByRole('button', { name: 'Pausar Em uso' }).waitFor()
    // The middle of the page: after its products, before the elements at the end.
    const its = (await slider.boundingBox())!
    const grid = (await page.locator('.grid').boundingBox())!
    const end = (await page.locator('[data-store-spot=page-bottom]').boundingBox())!
    expect([its.y >= grid.y + grid.height, its.y + its.height <= end.y]).toEqual([true, true])
    const counted = async () => {
      const { impressions, clicks } = (await shop.call(getHome)).body
      return [impressions, clicks]
    }
    await expect.poll(counted).toEqual([1, 1])
    await save({ layout: 'floating', autoplay: true })
    await open()
    await expect
      .poll(() =>
        slider
          .locator('video')
          .first()
          .evaluate(({ paused }: Player) => paused),
      )
      .toBe(false)
    await expectAccessible(page)
    await slider.getByRole('button', { name: 'Assistir: Em uso' }).click()
    await slider.getByRole('dialog').getByText('1 de 2').waitFor()
    await page.keyboard.press('Escape')
    await slider.getByRole('button', { name: 'Fechar' }).click()
    await expect.poll(() => slider.locator('video').count()).toBe(0)
    await open()
    await page.waitForTimeout(1500)
    expect(await slider.locator('video').count()).toBe(0)
    await expect.poll(counted).toEqual([1, 2])
    // If all videos are missing, the slider disappears without an error.
    await save({ layout: 'carousel', videos: [videos[2]], title: 'Em casa' })
    await open()
    await expect.poll(() => slider.evaluate((each: Hosting) => each.shadowRoot?.childElementCount)).toBe(0)
    expect(faults.filter((each) => !each.includes('Failed to load resource'))).toEqual([])
  },
)
