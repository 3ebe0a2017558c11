import { expect, test } from 'vitest'
import { createToken } from '#operations/reviews/requests/links'
import listReviews from '#operations/reviews/reviews/api/list-reviews'
import saveSettings from '#operations/reviews/settings/api/save-settings'
import { hasChromium, servedApp } from '#test/support/browser'
import { type DemoShop, demoShop, expectAccessible } from '#test/support/demo-shop'
import { visit } from '#test/support/storefront'

const { app, url } = await servedApp()

const picture = {
  name: 'foto.png',
  mimeType: 'image/png',
  buffer: Buffer.from(
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
    'base64',
  ),
}
const place = 'GPS -23.5505 -46.6333'
/** A picture with location metadata, like a phone's. */
const taken = { ...picture, buffer: Buffer.concat([picture.buffer, Buffer.from(place)]) }

async function save({ shop }: DemoShop, settings: Record<string, unknown>) {
  const body = {
    isEnabled: true,
    autoPublish: { mode: 'all', verifiedOnly: false, holdImages: false },
    ...settings,
  }
  expect((await shop.call(saveSettings, { body })).status).toBe(200)
}

async function write({ shop }: DemoShop, rating: number, name: string) {
  const body = { productId: '1001', rating, name, text: `Nota ${rating}`, email: `${name}@example.com` }
  expect((await visit(shop, '/reviews', { body })).status).toBe(201)
}

test.skipIf(!hasChromium).each([1280, 390])(
  'stars link to the reviews, which can be read, paged and sorted, and one is written with a picture, %i wide',
  async (width) => {
    const demo = await demoShop(app, url, { width })
    const { shop, page, open, faults, asked } = demo
    await save(demo, { widget: { perPage: 2, sort: 'newest' } })
    for (const [rating, name] of [
      [5, 'Ana'],
      [4, 'Bia'],
      [1, 'Cia'],
    ] as const) {
      await write(demo, rating, name)
      await app.advance(60_000)
    }
    await open()
    const stars = page.locator('[data-product-id="1001"] store-stars a')
    await stars.getByRole('img', { name: '3,3 de 5 estrelas, 3 avaliações' }).waitFor()
    await expectAccessible(page)
    expect(await page.locator('[data-product-id="1002"] store-stars a').count()).toBe(0)
    expect(asked.filter((each) => each.includes('/widgets'))).toHaveLength(1)

    await stars.click()
    const reviews = page.locator('store-reviews')
    await reviews.getByRole('heading', { name: 'Avaliações de clientes' }).waitFor()
    await expect.poll(() => page.evaluate('document.activeElement?.localName')).toBe('store-reviews')
    expect(await page.locator('script[type="application/ld+json"]').textContent()).toContain(
      '"ratingValue":3.33',
    )
    await reviews.getByText('Nota 1').waitFor()
    expect(await reviews.getByRole('article').count()).toBe(2)
    await reviews.getByRole('button', { name: 'Próximo' }).click()
    await reviews.getByText('Página 2 de 2').waitFor()
    await reviews.getByText('Nota 5').waitFor()
    await reviews.getByRole('combobox').selectOption('highest')
    await reviews.getByText('Página 1 de 2').waitFor()
    await reviews.getByRole('article').first().getByText('Nota 5').waitFor()
    await expectAccessible(page)

    await reviews.getByRole('button', { name: 'Avaliar o produto' }).click()
    const form = reviews.getByRole('dialog')
    await form.getByRole('button', { name: 'Enviar avaliação' }).click()
    await form.getByText('Escolha de 1 a 5 estrelas.').waitFor()
    expect(await form.getByText('Preencha este campo.').count()).toBe(2)
    await expectAccessible(page)
    await form.getByRole('radio', { name: '4 de 5 estrelas' }).check()
    await form.getByLabel('Sua opinião').fill('Chegou rápido')
    await form.getByLabel('Seu nome').fill('Duda Reis')
    await form.getByLabel('Seu e-mail').fill('duda@example.com')
    await form.getByLabel('Fotos').setInputFiles(taken)
    await form.getByRole('button', { name: 'Remover a foto 1' }).waitFor()
    await form.getByRole('button', { name: 'Enviar avaliação' }).click()
    await form.getByText('Ela já está publicada.').waitFor()
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    expect(await form.count()).toBe(0)
    await reviews.getByText('4 avaliações').waitFor()
    const focused = () =>
      page.evaluate('document.activeElement?.shadowRoot?.activeElement?.textContent?.trim()')
    await expect.poll(focused).toBe('Avaliar o produto')

    await reviews.getByRole('combobox').selectOption('newest')
    await reviews.getByText('Chegou rápido').waitFor()
    await reviews.getByRole('button', { name: /^Ampliar a foto/ }).click()
    const large = reviews.getByRole('dialog')
    await large.getByRole('img', { name: 'Foto 1 de 1, por Duda R.' }).waitFor()
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    expect(await large.count()).toBe(0)
    const { body } = await shop.call(listReviews)
    const written = body.data.find((each: { customerName: string }) => each.customerName === 'Duda Reis')
    expect(written).toMatchObject({
      rating: 4,
      text: 'Chegou rápido',
      status: 'approved',
      images: [{ url: expect.any(String) }],
    })
    // The picture is public.
    const stored = await app.fetch(new Request(written.images[0].url))
    expect(Buffer.from(await stored.arrayBuffer())).toEqual(picture.buffer)
    expect(faults).toEqual([])
  },
)

test.skipIf(!hasChromium)(
  'a shopper without an order sees a hint; a link opens the form; a second review shows an error',
  async () => {
    const demo = await demoShop(app, url, { width: 390, locale: 'es' })
    const { shop, page, open } = demo
    await save(demo, { form: { allowWithoutPurchase: false }, widget: { layout: 'carousel' } })
    await open('/products/1001')
    const reviews = page.locator('store-reviews')
    await reviews.scrollIntoViewIfNeeded()
    await reviews.getByRole('button', { name: 'Escribir una opinión' }).click()
    await reviews.getByText('Solo los clientes pueden opinar').waitFor()
    await expectAccessible(page)

    await shop.sell({
      customer: { name: 'Eva Luna', email: 'eva@example.com' },
      items: [{ variantId: '2001', quantity: 1 }],
    })
    const ctx = await shop.context()
    const { id } = await ctx.db.selectFrom('orders').select('id').executeTakeFirstOrThrow()
    const { token, row } = createToken(ctx, id)
    await ctx.db.insertInto('review_tokens').values(row).execute()
    await open(`/products/1001?review_token=${token}`)
    const form = reviews.getByRole('dialog')
    await form.getByRole('radio', { name: '5 de 5 estrellas' }).check()
    expect(await form.getByLabel('Tu nombre').inputValue()).toBe('Eva Luna')
    expect(await form.getByLabel('Tu correo').count()).toBe(0)
    await form.getByLabel('Tu opinión').fill('Muy buena')
    await form.getByRole('button', { name: 'Enviar opinión' }).click()
    await form.getByText('¡Gracias por tu opinión!').waitFor()
    await page.keyboard.press('Escape')
    await reviews.getByText('Compra verificada').waitFor()
    await expectAccessible(page)

    await save(demo, { form: { allowWithoutPurchase: true } })
    await open('/products/1001#store-reviews')
    await reviews.getByRole('button', { name: 'Escribir una opinión' }).click()
    await form.getByRole('radio', { name: '1 de 5 estrellas' }).check()
    await form.getByLabel('Tu nombre').fill('Eva')
    await form.getByLabel('Tu correo').fill('EVA@example.com')
    await form.getByRole('button', { name: 'Enviar opinión' }).click()
    await form.getByText('Ya hay una opinión de este producto con este correo.').waitFor()
    const width = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
    expect(width).toBe(0)
  },
)

test.skipIf(!hasChromium)(
  'a form whose module does not arrive closes, and opens at the next try',
  async () => {
    const demo = await demoShop(app, url, { width: 390 })
    const { page, open, faults } = demo
    await save(demo, {})
    await page.route('**/review-form.js', (route) => route.abort())
    await open('/products/1001')
    const reviews = page.locator('store-reviews')
    const write = reviews.getByRole('button', { name: 'Avaliar o produto' })
    await write.click()
    await expect.poll(() => faults.length).toBeGreaterThan(0)
    await expect.poll(() => reviews.getByRole('dialog').count()).toBe(0)
    await page.unroute('**/review-form.js')
    await write.click()
    await reviews.getByRole('dialog').getByRole('button', { name: 'Enviar avaliação' }).waitFor()
  },
)
