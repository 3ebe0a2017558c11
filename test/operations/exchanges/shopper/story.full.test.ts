/** A complete exchange: the shopper requests it on the storefront, the merchant decides by the API. */
import { expect, test } from 'vitest'
import getMetrics from '#operations/exchanges/figures/api/get-metrics'
import approveRequest from '#operations/exchanges/requests/api/approve-request'
import confirmRequest from '#operations/exchanges/requests/api/confirm-request'
import listRequests from '#operations/exchanges/requests/api/list-requests'
import saveSettings from '#operations/exchanges/settings/api/save-settings'
import { ana, returnAddress } from '#test/operations/exchanges/shopper'
import { hasChromium, servedApp } from '#test/support/browser'
import { demoShop, expectAccessible } from '#test/support/demo-shop'

const { app, url } = await servedApp()

test.skipIf(!hasChromium).each([1280, 390])('a shopper exchanges an order, %i wide', async (width) => {
  const { shop, page, open, faults } = await demoShop(app, url, { width })
  const settings = await shop.call(saveSettings, { body: { isEnabled: true, returnAddress } })
  expect(settings.status).toBe(200)
  const placed = await shop.sell({ customer: ana, items: [{ variantId: '2001', quantity: 2 }] })
  const order = await shop.resell(placed, { fulfillmentStatus: 'delivered' })
  const fits = async () => {
    await expectAccessible(page)
    expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
  }

  await open()
  await page.getByRole('link', { name: 'Trocas e devoluções' }).click()
  await fits()
  await page.locator('#orderNumber').fill(order.number)
  await page.locator('#contact').fill(ana.email)
  await page.locator('form button').click()
  await page.locator('summary').first().click()
  await fits()
  const form = page.locator('details', { has: page.locator('[name=type][value=exchange]') })
  await form.locator('[name="items.0.quantity"]').fill('1')
  await form.locator('[name="items.0.reason"]').selectOption('wrong-size')
  await form.locator('[name="items.0.exchangeForVariantId"]').selectOption('2002')
  await form.locator('[name=acceptedConditions]').check()
  await form.locator('button').click()
  await page.getByRole('heading', { name: 'EX-1001' }).waitFor()
  await fits()
  const followed = page.url()

  const { body } = await shop.call(listRequests)
  expect(body.data).toMatchObject([
    { number: 'EX-1001', type: 'exchange', status: 'requested', orderNumber: order.number },
  ])
  const of = { params: { id: body.data[0].id } }
  expect((await shop.call(approveRequest, { ...of, body: {} })).body.status).toBe('approved')
  await page.goto(followed)
  await page.getByText('Rua das Flores, 100').waitFor()
  await fits()
  await page.locator('#trackingCode').fill('BR123456789')
  await page
    .locator('form', { has: page.locator('#trackingCode') })
    .locator('button')
    .click()
  await page.getByText('BR123456789', { exact: true }).waitFor()

  await app.advance(86_400_000)
  const done = await shop.call(confirmRequest, { ...of, body: { exchangeOrderId: '9100' } })
  expect(done.body).toMatchObject({ status: 'completed', trackingCode: 'BR123456789' })
  await page.goto(followed)
  await fits()
  expect(await page.locator('form').count()).toBe(0)
  expect((await shop.call(getMetrics)).body).toMatchObject({
    ...{ total: 1, pending: 0, byType: { exchange: 1, return: 0 }, approvalRate: 100 },
    ...{ byStatus: { completed: 1 }, exchangedAmount: 120, requestRate: 100 },
    reasons: [{ reason: 'wrong-size', requests: 1, units: 1 }],
    products: [{ productId: '1001', units: 1 }],
  })
  expect(faults).toEqual([])
})
