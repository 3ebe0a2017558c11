import { expect, test } from 'vitest'
import createGift from '#operations/promotions/gifts/api/create-gift'
import { hasChromium, servedApp } from '#test/support/browser'
import { demoShop, expectAccessible } from '#test/support/demo-shop'

const { app, url } = await servedApp()

test.skipIf(!hasChromium).each([1280, 390])(
  'the missing amount for a gift, the gift, and another one to claim, %i wide',
  async (width) => {
    const { shop, page, open, faults } = await demoShop(app, url, { width })
    const both = { combinesWith: { gifts: true }, gift: { productId: '1002' } }
    const texts = { message: 'Faltam {{missingAmount}} para {{gift}}', successMessage: '{{gift}}: é seu!' }
    const gifts = [
      { name: 'Acima de 100', minAmount: 100, ...both, ...texts },
      {
        ...{ name: 'Acima de 200', minAmount: 200, combinesWith: { gifts: true }, addAutomatically: false },
        ...{ gift: { productId: '1001', variantId: '2002', quantity: 2 }, ...texts },
      },
    ]
    for (const body of gifts) expect((await shop.call(createGift, { body })).status).toBe(201)
    const cartOf = (detail: object) =>
      page.evaluate(
        `document.dispatchEvent(new CustomEvent('storefront:cart', { detail: ${JSON.stringify(detail)} }))`,
      )
    const own = page.locator('store-cart-gifts')
    await open('/products/1001')
    await page.locator('select[name=variantId]').selectOption('2002')
    await page.getByRole('button', { name: 'Adicionar' }).click()
    await page.getByText('✓').waitFor()

    await open('/cart')
    await own.getByText('Faltam R$ 40,00 para Avental').waitFor()
    await expectAccessible(page)
    // The platform adds it by itself; the shopper removes it and can add it again.
    await page.evaluate(
      `localStorage.setItem('shop.${shop.slug}', JSON.stringify({ lines: [{ variantId: '2001', quantity: 1 }], code: null }))`,
    )
    await open('/cart')
    await own.getByText('Avental: é seu!').waitFor()
    await own.getByText('Faltam R$ 80,00 para 2 × Caneca').waitFor()
    const row = page.locator('[data-cart] tr', { hasText: 'Avental' })
    await row.getByRole('button').click()
    await own.getByRole('button', { name: 'Adicionar o brinde' }).waitFor()
    await expectAccessible(page)
    await page.reload()
    await own.getByRole('button', { name: 'Adicionar o brinde' }).click()
    await own.getByText('Avental: é seu!').waitFor()
    await row.waitFor()

    // A platform that leaves adding to us, and a gift to claim.
    await page.evaluate('sessionStorage.clear()')
    await page.evaluate(`
      window.asked = []
      document.addEventListener('storefront:add-to-cart', (event) => {
        event.stopImmediatePropagation()
        window.asked.push({ items: event.detail.items, origin: event.detail.origin.widget })
        event.detail.respondWith(Promise.resolve())
      }, true)`)
    const line = { productId: '1001', variantId: '2001', quantity: 2, total: 150, unitPrice: 75 }
    await cartOf({ total: 99.99, items: [line] })
    await own.getByText('Faltam R$ 0,01 para Avental').waitFor()
    await cartOf({ total: 250, items: [line] })
    await own.getByText('Avental: é seu!').waitFor()
    await own.getByRole('button', { name: 'Adicionar o brinde' }).click()
    await own.getByText('2 × Caneca', { exact: false }).and(own.getByText('é seu!')).waitFor()
    expect(await page.evaluate('window.asked')).toEqual([
      { items: [{ productId: '1002', variantId: '2003', quantity: 1 }], origin: 'cart-gift' },
      { items: [{ productId: '1001', variantId: '2002', quantity: 2 }], origin: 'cart-gift' },
    ])
    const counted = () =>
      app.database.root
        .selectFrom('discounts')
        .select(['impressions', 'clicks', 'cart_adds'])
        .where('store_id', '=', shop.id)
        .orderBy('min_amount')
        .execute()
    await expect.poll(counted).toEqual([
      { impressions: 1, clicks: 1, cart_adds: 2 },
      { impressions: 1, clicks: 1, cart_adds: 1 },
    ])
    await page.setViewportSize({ width: 320, height: 640 })
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
    expect(faults).toEqual([])
  },
)

test.skipIf(!hasChromium)('a gift that is no longer earned is removed, and bought units stay', async () => {
  const { shop, page, open, faults } = await demoShop(app, url)
  const body = { name: 'Brinde', minAmount: 100, gift: { productId: '1002' } }
  expect((await shop.call(createGift, { body })).status).toBe(201)
  await open('/cart')
  await page.evaluate(`
      window.asked = []
      for (const name of ['add-to-cart', 'remove-from-cart'])
        document.addEventListener('storefront:' + name, (event) => {
          event.stopImmediatePropagation()
          window.asked.push([name, event.detail.items, event.detail.origin.widget])
          event.detail.respondWith(Promise.resolve())
        }, true)`)
  const own = page.locator('store-cart-gifts')
  await own.getByText('100').waitFor()
  const mug = (total: number) => ({ productId: '1001', variantId: '2001', quantity: 1, total })
  const apron = (total: number, quantity = 1) => ({ productId: '1002', variantId: '2003', quantity, total })
  const cartOf = (...items: { total: number }[]) => {
    const detail = { total: items.reduce((sum, each) => sum + each.total, 0), items }
    return page.evaluate(`(async () => {
        window.storefrontCart = ${JSON.stringify(detail)}
        document.dispatchEvent(new CustomEvent('storefront:cart', { detail: window.storefrontCart }))
        await new Promise((resolve) => setTimeout(resolve, 100))
      })()`)
  }
  const asked = () => page.evaluate<unknown[]>('window.asked')
  const one = [{ productId: '1002', variantId: '2003', quantity: 1 }]
  const added = ['add-to-cart', one, 'cart-gift']
  const removed = ['remove-from-cart', one, 'cart-gift']
  // Amounts are in the shop's currency, which this cart does not give.
  await page.evaluate(`
      window.storefrontCart = ${JSON.stringify({ currency: 'USD', total: 120, items: [mug(120)] })}
      document.dispatchEvent(new CustomEvent('storefront:cart', { detail: window.storefrontCart }))`)
  await own.getByText('100').waitFor({ state: 'detached' })
  expect([await asked(), await own.getByRole('group').count()]).toEqual([[], 0])
  await cartOf(mug(120))
  await expect.poll(asked).toEqual([added])
  await cartOf(mug(120), apron(0))
  // No longer free, it would count towards its own minimum and be charged.
  await cartOf(mug(60), apron(100))
  await expect.poll(asked).toEqual([added, removed])
  await own.getByText('40').waitFor()
  await cartOf(mug(60), apron(100))
  await cartOf(mug(60))
  expect(await asked()).toHaveLength(2)

  // Earned again, next to a paid one; the shop removes the free one by itself.
  await cartOf(mug(120))
  await expect.poll(asked).toEqual([added, removed, added])
  await cartOf(mug(120), apron(0), apron(100))
  await cartOf(mug(20), apron(70))
  await own.getByText('10').waitFor()
  expect(await asked()).toHaveLength(3)

  // A gift that the shopper removed is not added again.
  await cartOf(mug(120))
  await expect.poll(asked).toEqual([added, removed, added, added])
  await cartOf(mug(120), apron(0))
  await cartOf(mug(120))
  await own.getByRole('button').waitFor()
  expect(await asked()).toHaveLength(4)
  expect(faults).toEqual([])
})
