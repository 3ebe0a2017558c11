import { expect, test } from 'vitest'
import { ana, exchangeShop, png } from '#test/operations/exchanges/shopper'
import { hasChromium, openPage, servedApp } from '#test/support/browser'
import { readRows } from '#test/support/rows'

const { app, url } = await servedApp()

test.skipIf(!hasChromium)(
  'in a browser, without scripts: an order is looked up, its items asked for with a photo, followed, sent',
  async () => {
    const shop = await exchangeShop(app, {
      autoApprove: true,
      texts: { pageTitle: 'Trocas <i>e</i> devoluções', buttonText: 'Pedir a troca' },
    })
    const order = await shop.delivered()
    const { page, asked, faults } = await openPage()
    await page.goto(`${url}/storefront/${shop.publicId}/exchanges`)
    await page.getByRole('heading', { name: 'Trocas <i>e</i> devoluções' }).waitFor()
    await page.getByLabel('Order number').fill(order.number)
    await page.getByLabel('Email or phone of the order').fill('eva@example.com')
    await page.getByRole('button', { name: 'Find my order' }).click()
    await page.getByRole('alert').getByText('No order has this number').waitFor()
    expect(await page.getByLabel('Order number').inputValue()).toBe(order.number)
    await page.getByLabel('Email or phone of the order').fill(ana.phone)
    await page.getByRole('button', { name: 'Find my order' }).click()
    await page.getByText('2 of 2 can be asked for').waitFor()

    await page.getByText('Exchange items').click()
    const form = page.locator('details', { hasText: 'Exchange items' })
    await form.getByLabel('How many (up to 2)').fill('1')
    await form.getByLabel('Reason').selectOption({ label: 'It is defective (with a photo)' })
    await form.getByLabel('Comment', { exact: true }).fill('<b>Veio</b> quebrada')
    await form.getByLabel('What you want instead').selectOption('2002')
    await form.getByLabel('I accept the conditions').check()
    await form.getByRole('button', { name: 'Pedir a troca' }).click()
    // Refused because the photo is missing: all other fields keep their values.
    await form.getByRole('alert').getByText('needs a photo').waitFor()
    await form.getByLabel('Photos').setInputFiles({ name: 'foto.png', mimeType: 'image/png', buffer: png })
    await form.getByRole('button', { name: 'Pedir a troca' }).click()

    await page.getByRole('heading', { name: 'Exchange EX-1001' }).waitFor()
    await page.getByText('It was approved.').waitFor()
    await page.getByText('Rua das Flores, 100').waitFor()
    expect(page.url()).toMatch(/\/exchanges\/requests\/[\w-]{32}$/)
    await page.getByLabel('Tracking code').fill('BR123456789')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Your items are on their way to us.').waitFor()
    await page.getByText('BR123456789', { exact: true }).waitFor()
    expect(await page.getByRole('button', { name: 'Cancel this request' }).count()).toBe(0)

    expect(faults.filter((fault) => !/40[04]|favicon/.test(fault))).toEqual([])
    expect(asked.filter((address) => !address.startsWith(url))).toEqual([])
    const [row] = await readRows(shop, 'exchange_requests', ['status', 'photo_count', 'tracking_code'])
    expect(row).toEqual({ status: 'in-transit', photo_count: 1, tracking_code: 'BR123456789' })
  },
)
