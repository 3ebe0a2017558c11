import { expect, test } from 'vitest'
import createBlock from '#operations/product-page/content-blocks/api/create-block'
import getStats from '#operations/product-page/content-blocks/api/get-stats'
import moveBlock from '#operations/product-page/content-blocks/api/move-block'
import { hasChromium, servedApp } from '#test/support/browser'
import { picture, serveMedia } from '#test/support/demo-media'
import { demoShop, expectAccessible } from '#test/support/demo-shop'
import type { Shop } from '#test/support/store'

const { app, url } = await servedApp()

interface Styled {
  style: { textAlign: string }
}

const image = picture('block')
const style = { backgroundColor: '#f9fafb', borderColor: '#d1d5db', align: 'center' }
const blocks: Record<string, { placement: string; device?: string; design: object }> = {
  features: {
    placement: 'below-price',
    design: {
      items: [
        { icon: 'truck', title: 'Envio em 24 h', text: 'Para todo o Brasil' },
        { icon: image, title: 'Compra segura' },
        { icon: picture('missing'), title: 'Sem ícone' },
      ],
    },
  },
  warranty: {
    placement: 'below-buy-button',
    design: {
      title: 'Garantia',
      subtitle: 'Sem letras miúdas',
      style,
      duration: 1,
      durationUnit: 'years',
      coverageHtml: '<p style="text-align:right">Tudo <strong>coberto</strong></p>',
      icon: 'medal',
      linkText: 'Condições',
      linkUrl: '/garantia',
    },
  },
  faq: {
    placement: 'below-description',
    design: {
      title: 'Dúvidas',
      openFirst: true,
      items: [
        { question: 'Molha?', answerHtml: '<p>Não molha.</p>' },
        { question: 'Quebra?', answerHtml: '<p>Não <a href="/q">quebra</a>.</p>' },
      ],
    },
  },
  specifications: {
    placement: 'below-description',
    device: 'desktop',
    design: { layout: 'two-columns', rows: [{ label: 'Peso', value: '300 g' }] },
  },
  comparison: {
    placement: 'page-bottom',
    design: {
      title: 'Qual?',
      columns: [
        { title: 'Esta', productId: '1002', isHighlighted: true },
        { title: 'Outra', imageUrl: image },
        { title: 'Mais uma' },
        { title: 'E outra' },
      ],
      rows: [{ label: 'Lava-louças', cells: [true, false, 'à mão', ''] }],
    },
  },
  // Taller than two windows: it counts as seen although half of it is never visible at once.
  'rich-text': {
    placement: 'page-bottom',
    design: {
      html: `<h2>História</h2><p>${'Do ateliê. '.repeat(1000)}</p><img src="${picture('missing')}">`,
    },
  },
  'image-banner': {
    placement: 'page-bottom',
    design: { imageUrl: image, alt: 'Presentes', linkUrl: '/presentes', openInNewTab: true },
  },
  'before-after': {
    placement: 'page-bottom',
    design: { beforeImageUrl: image, afterImageUrl: picture('after-it'), startPosition: 30 },
  },
  steps: {
    placement: 'page-bottom',
    design: { title: 'Cuidados', items: [{ title: 'Lave', textHtml: '<p>À mão</p>', imageUrl: image }] },
  },
}

async function saveBlocks(shop: Shop): Promise<Record<string, string>> {
  const ids: Record<string, string> = {}
  for (const [type, { design, ...where }] of Object.entries(blocks)) {
    const { body } = await shop.call(createBlock, { body: { name: type, type, design, ...where } })
    ids[type] = body.id
    await shop.call(moveBlock, { body: { id: body.id, isActive: true } })
  }
  return ids
}

test.skipIf(!hasChromium).each([1280, 390])(
  'blocks of every design are placed, seen, opened and clicked, %i wide',
  async (width) => {
    const { shop, page, open, faults } = await demoShop(app, url, { width })
    await serveMedia(page)
    const ids = await saveBlocks(shop)
    await open('/products/1001')
    const at = (placement: string) =>
      page.locator(`[data-store-spot="${placement}"] store-content-blocks[placement="${placement}"]`)
    await at('below-price').getByText('Compra segura').waitFor()
    await at('below-buy-button').getByText('1 ano de garantia').waitFor()
    await at('page-bottom').getByText('Do ateliê.').waitFor()
    const coverage = at('below-buy-button').getByText('Tudo coberto')
    expect(await coverage.evaluate((p: Styled) => p.style.textAlign)).toBe('right')
    expect(await at('below-description').getByText('Peso').count()).toBe(width === 1280 ? 1 : 0)
    expect(await page.locator('img[src*=missing]').count()).toBe(2)
    expect(await page.locator('img[src*=missing]:visible').count()).toBe(0)
    const markup = await page
      .locator('script[type="application/ld+json"]')
      .evaluateAll((all) => all.map((each) => JSON.parse(each.textContent!)))
    expect(markup).toMatchObject([
      { '@type': 'FAQPage', mainEntity: [{ name: 'Molha?' }, { name: 'Quebra?' }] },
    ])
    await expectAccessible(page)
    // Opening counts as a click, closing does not.
    const question = at('below-description').getByText('Quebra?')
    await question.click()
    await at('below-description').getByText('Não quebra.').waitFor()
    await question.click()
    await page.waitForTimeout(1200)
    const slider = at('page-bottom').getByRole('slider', { name: 'Antes e Depois: mova para comparar' })
    await slider.scrollIntoViewIfNeeded()
    await slider.press('ArrowRight')
    await slider.press('ArrowRight')
    expect(await slider.inputValue()).toBe('32')
    const compared = at('page-bottom').getByRole('link', { name: 'Esta' })
    expect(await compared.getAttribute('href')).toContain('avental')
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    for (const part of ['rich-text', 'image-banner', 'before-after']) {
      await at('page-bottom').locator(`[part~="${part}"]`).scrollIntoViewIfNeeded()
      await page.waitForTimeout(1200)
    }
    const [opened] = await Promise.all([
      page.waitForEvent('popup'),
      at('page-bottom').getByRole('link', { name: 'Presentes (abre em uma nova aba)' }).click(),
    ])
    await opened.close()
    const figures = async (id: string) => {
      const { body } = await shop.call(getStats)
      const { impressions, clicks } = body.data.find((each: { blockId: string }) => each.blockId === id)
      return [impressions, clicks]
    }
    await expect.poll(() => figures(ids['image-banner']!)).toEqual([1, 1])
    expect(await figures(ids.faq!)).toEqual([1, 1])
    expect(await figures(ids['before-after']!)).toEqual([1, 1])
    expect(await figures(ids['rich-text']!)).toEqual([1, 0])
    expect(await figures(ids.specifications!)).toEqual([width === 1280 ? 1 : 0, 0])
    expect(faults).toEqual([])
  },
)
