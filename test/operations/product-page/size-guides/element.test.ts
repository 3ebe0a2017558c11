import fc from 'fast-check'
import { expect, test } from 'vitest'
import changeGuide from '#operations/product-page/size-guides/api/change-guide'
import createGuide from '#operations/product-page/size-guides/api/create-guide'
import { hasChromium, servedApp } from '#test/support/browser'
import { picture, serveMedia } from '#test/support/demo-media'
import { demoShop, expectAccessible } from '#test/support/demo-shop'

const { app, url } = await servedApp()

const table = {
  title: 'Camisetas',
  columns: ['Tamanho', 'Busto', 'Cintura', 'Obs.'],
  rows: [
    ['P', '84-88', '66-70', 'justa'],
    ['M', '90-94', '72-76', ''],
    ['G', '96-102', '78-84', 'larga'],
  ],
}
const guide = {
  name: 'Medidas',
  tables: [table],
  showUnitSwitch: true,
  instructionsHtml: '<p>Meça <strong>sem roupa</strong>.</p>',
  imageUrl: picture('measure'),
  linkText: 'Guia de tamanhos',
}

interface Focusable {
  getRootNode(): { activeElement: unknown }
}
const hasFocus = (each: Focusable) => each.getRootNode().activeElement === each

test.skipIf(!hasChromium).each([1280, 390])(
  'the size guide opens, shows both units, and finds a size, %i wide',
  async (width) => {
    const { shop, page, open, faults } = await demoShop(app, url, { width })
    await serveMedia(page)
    const { body: made } = await shop.call(createGuide, { body: guide })
    await open('/products/1001')
    const element = page.locator('[data-store-spot=above-buy-button] store-size-guide')
    const opener = element.getByRole('button', { name: 'Guia de tamanhos' })
    await opener.click()
    const dialog = element.getByRole('dialog', { name: 'Medidas' })
    await dialog.getByText('sem roupa').waitFor()
    await dialog.getByRole('img', { name: 'Como medir: Medidas' }).waitFor()
    await dialog.getByText('Descobrir meu tamanho').click()
    await expectAccessible(page)
    const bust = dialog.getByLabel('Busto (cm)')
    const show = dialog.getByRole('button', { name: 'Ver meu tamanho' })
    await show.click()
    await dialog.getByText('Escreva ao menos uma medida').waitFor()
    await bust.fill('noventa')
    await show.click()
    await dialog.getByText('Isto não é um número.').waitFor()
    expect(await bust.getAttribute('aria-invalid')).toBe('true')
    await bust.fill('89')
    await dialog.getByLabel('Cintura (cm)').fill('80,5')
    await show.click()
    await dialog.getByText('Seu tamanho: G').waitFor()
    await dialog.getByText('Busto: entre dois tamanhos, prefira M').waitFor()
    await dialog.getByText('o maior serve em todas').waitFor()
    expect(await dialog.locator('tr.yours th').innerText()).toContain('G')
    await expectAccessible(page)
    await dialog.getByRole('button', { name: 'in', exact: true }).click()
    await dialog.getByText('33.1-34.6').waitFor()
    await dialog.getByText('Descobrir meu tamanho').click()
    expect(await dialog.getByLabel('Busto (in)').inputValue()).toBe('35')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await opener.evaluate(hasFocus)).toBe(true)
    await shop.call(changeGuide, { body: { id: made.id, display: 'drawer' } })
    await open('/products/1001')
    await opener.click()
    await dialog.getByText('33.1-34.6').waitFor()
    const box = (await dialog.boundingBox())!
    expect([Math.round(box.x + box.width), Math.round(box.y)]).toEqual([width, 0])
    await expectAccessible(page)
    await page.evaluate("document.documentElement.dir = 'rtl'")
    expect(Math.round((await dialog.boundingBox())!.x)).toBe(0)
    await page.setViewportSize({ width: 320, height: 600 })
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    await shop.call(changeGuide, {
      body: { id: made.id, display: 'inline', showUnitSwitch: false, imageUrl: picture('missing') },
    })
    await page.setViewportSize({ width, height: 800 })
    await open('/products/1001')
    const inline = page.locator('[data-store-spot=below-description] store-size-guide')
    await inline.getByText('84-88').waitFor()
    expect(await inline.getByRole('button', { name: 'in', exact: true }).count()).toBe(0)
    await inline.scrollIntoViewIfNeeded()
    await expect.poll(() => inline.locator('img:visible').count()).toBe(0)
    await expectAccessible(page)
    expect(faults).toEqual([])
  },
)

const module = new URL('../../../../operations/product-page/size-guides/elements/fit.js', import.meta.url)

test('a size is found for measures within it, the larger one between two, none above the largest', async () => {
  const { findFit, findMeasures } = await import(module.href)
  expect(findMeasures(table, [1, 2]).map(({ name }: { name: string }) => name)).toEqual(['Busto', 'Cintura'])
  expect(
    findMeasures(
      {
        columns: ['BR', 'US'],
        rows: [
          ['36', '8'],
          ['37', '7'],
        ],
      },
      [1],
    ),
  ).toEqual([])
  expect(findMeasures(table, [2]).map(({ name }: { name: string }) => name)).toEqual(['Cintura'])
  expect(findFit(table, { 1: null }, [1, 2])).toBeNull()
  expect(findFit(table, { 1: 103 }, [1, 2])).toMatchObject({ row: null })
  expect(findFit(table, { 1: 60 }, [1, 2])).toMatchObject({ row: 0 })
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 4, maxLength: 12 }),
      fc.nat(),
      (steps, at) => {
        const edges = steps.map((_step, last) =>
          steps.slice(0, last + 1).reduce((sum, each) => sum + each, 50),
        )
        const rows = edges.slice(1).map((edge, row) => [`S${row}`, `${edges[row]! + 1}–${edge} cm`])
        const row = at % rows.length
        const found = findFit({ columns: ['Size', 'Chest'], rows }, { 1: edges[row + 1] }, [1])
        expect(found.row).toBe(row)
      },
    ),
  )
})
