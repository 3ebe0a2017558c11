/** The front page. */
import { describe, expect, test } from 'vitest'
import { loadRegistry } from '#runtime/registry/registry'
import { hasChromium, openPage, servedApp } from '#test/support/browser'
import { expectAccessible } from '#test/support/demo-shop'

const { app, url } = await servedApp()

const fetchFront = (accept: string) =>
  app.fetch(new Request('http://localhost/', { headers: { accept } }), { ip: '1.1.1.1' })

describe('/', () => {
  test('is JSON for programs: every entry point is listed, and works', async () => {
    const response = await fetchFront('*/*')
    expect([response.status, response.headers.get('vary')]).toEqual([200, 'accept'])
    const { ways } = (await response.json()) as { ways: { path: string }[] }
    const paths = ways.map(({ path }) => path)
    expect(paths).toEqual(
      expect.arrayContaining(['/docs', '/docs/guides/themes', '/sandbox', '/v1/openapi.json', '/mcp']),
    )
    for (const path of paths) {
      if (path.startsWith('/sandbox/shop/')) continue // a page of the demo store, which is not seeded here
      const { status } = await app.fetch(new Request(`http://localhost${path}`), { ip: '1.1.1.1' })
      expect([path, [200, 401, 405].includes(status)]).toEqual([path, true])
    }
  })

  test('is a page for people, which loads nothing', async () => {
    const response = await fetchFront('text/html,application/xhtml+xml,*/*;q=0.8')
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    const html = await response.text()
    expect(html).toContain('<a href="/docs">Reference</a>')
    expect(html).not.toContain('<a href="/mcp">')
  })

  test('lists the documents for a model', async () => {
    const response = await app.fetch(new Request('http://localhost/llms.txt'), { ip: '1.1.1.1' })
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/)
    const text = await response.text()
    expect(text).toMatch(/^# Merchant API\n\n> One key .*\n/)
    expect(text).toContain(`- [Theme guide](${url}/docs/guides/themes.md): `)
    for (const { title } of (await loadRegistry()).sections) expect(text).toContain(`- **${title}**: `)
    expect(text.length).toBeLessThan(10_000)
  })

  test.skipIf(!hasChromium)('is usable on a phone, and accessible', async () => {
    const { page, asked, faults } = await openPage()
    await page.setViewportSize({ width: 390, height: 800 })
    await page.goto(url)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await expectAccessible(page)
    await page.getByRole('link', { name: 'Sandbox' }).click()
    await page.waitForURL('**/sandbox')
    expect(asked.filter((address) => !address.startsWith(url) && !address.startsWith('data:'))).toEqual([])
    expect(faults).toEqual([])
  })
})
