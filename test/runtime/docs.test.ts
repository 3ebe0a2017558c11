import { describe, expect, test } from 'vitest'
import { hasChromium, openPage, servedApp } from '#test/support/browser'
import { store } from '#test/support/store'

const { app, url } = await servedApp()

describe('/docs', () => {
  test('the page and its files, and nothing else of the package', async () => {
    const get = (path: string) => app.fetch(new Request(`http://localhost${path}`), { ip: '1.1.1.1' })
    const page = await get('/docs')
    expect(page.status).toBe(200)
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    for (const file of ['swagger-ui.css', 'swagger-ui-bundle.js', 'reference.js', 'reference.css']) {
      expect((await get(`/docs/${file}`)).status).toBe(200)
    }
    expect((await get('/docs/package.json')).status).toBe(404)
    expect((await get('/docs/..%2fpackage.json')).status).toBe(404)
  })

  test.skipIf(!hasChromium)(
    'in a browser: a key is set, an operation tried, and no other host asked',
    { timeout: 60_000 },
    async () => {
      const shop = await store(app)
      const { page, asked, faults } = await openPage()
      await page.goto(`${url}/docs`)
      await page.getByRole('heading', { name: /Merchant API/ }).waitFor()
      await page.getByRole('button', { name: 'Authorize' }).first().click()
      await page.getByLabel('auth-bearer-value').fill(shop.key)
      await page.getByRole('button', { name: 'Apply credentials' }).click()
      await page.getByRole('button', { name: 'Close' }).first().click()

      const operation = page.locator('.opblock', { hasText: 'get_store_information' })
      await page
        .getByRole('link', { name: /Store and team/ })
        .first()
        .click()
      await operation.locator('.opblock-summary-control').first().click()
      await operation.getByRole('button', { name: 'Execute' }).click()
      const answer = operation.locator('.live-responses-table .response-col_description')
      await answer.getByText(shop.slug).first().waitFor()
      expect(asked.filter((address) => !address.startsWith(url) && !address.startsWith('data:'))).toEqual([])
      expect(faults).toEqual([])
    },
  )
})
