import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { escapeHtml, renderMarkdown } from '#runtime/documents/markdown'
import { hasChromium, openPage, servedApp } from '#test/support/browser'
import { findViolations } from '#test/support/demo-shop'
import { store } from '#test/support/store'

const { app, url } = await servedApp()
const folder = join(import.meta.dirname, '../../runtime/documents/reference')

describe('/docs', () => {
  test('serves the page and its files, and nothing else of the package', async () => {
    const get = (path: string) => app.fetch(new Request(`http://localhost${path}`), { ip: '1.1.1.1' })
    const page = await get('/docs')
    expect(page.status).toBe(200)
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
    for (const file of ['scalar.js', 'early.js', 'reference.js', 'reference.css']) {
      expect((await get(`/docs/${file}`)).status).toBe(200)
    }
    const packed = await app.fetch(
      new Request('http://localhost/docs/scalar.js', { headers: { 'accept-encoding': 'br' } }),
      { ip: '1.1.1.1' },
    )
    expect(packed.headers.get('content-encoding')).toBe('br')
    const sent = Buffer.from(await packed.arrayBuffer())
    const readme = await readFile(join(folder, 'README.md'), 'utf8')
    expect(readme).toContain(createHash('sha256').update(brotliDecompressSync(sent)).digest('hex'))
    expect(sent.byteLength).toBeLessThan(1_000_000)
    expect((await get('/docs/package.json')).status).toBe(404)
    expect((await get('/docs/..%2fpackage.json')).status).toBe(404)
  })

  test('links the guides, as a page and as text', async () => {
    const get = (path: string) => app.fetch(new Request(`http://localhost${path}`), { ip: '1.1.1.1' })
    const { guides } = app.services.extensions
    expect(Object.keys(guides)).toContain('themes')
    const index = await (await get('/docs')).text()
    for (const [key, guide] of Object.entries(guides)) {
      expect(index).toContain(`<a href="/docs/guides/${key}">${guide!.title}</a>`)
      const page = await get(`/docs/guides/${key}`)
      expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
      expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
      const html = await page.text()
      const text = await get(`/docs/guides/${key}.md`)
      expect([text.status, text.headers.get('content-type')]).toEqual([200, 'text/markdown; charset=utf-8'])
      const markdown = await text.text()
      expect(markdown).toBe(await readFile(guide!.file, 'utf8'))
      // All text is there, without Markdown characters.
      for (const [, words] of markdown.matchAll(/^## (.+)$/gm))
        expect(html).toContain(`">${escapeHtml(words!)}</h2>`)
      expect(html.match(/<table>/g)).toHaveLength(markdown.match(/^\|[-| ]+\|$/gm)!.length)
      expect(html.replace(/<pre[\s\S]*?<\/pre>/g, '').replace(/<code>.*?<\/code>/g, '')).not.toMatch(
        /\*\*|```|`|^\|/m,
      )
    }
    const all = await get('/docs/guides')
    expect([all.status, all.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8'])
    const list = await all.text()
    for (const key of Object.keys(guides)) expect(list).toContain(`<a href="/docs/guides/${key}">`)
    for (const path of ['/docs/guides/none', '/docs/guides/__proto__', '/docs/guides/themes.txt']) {
      expect([path, (await get(path)).status]).toEqual([path, 404])
    }
  })

  test('a guide contains only its text, escaped', () => {
    const html = renderMarkdown(
      '# A <b>\n\nSee [x](javascript:alert(1)) and [y](https://a.example/?a="b"&c) `<i>`.\n\n| a | `b|c` |\n|---|---|\n| \\| | **z** |',
    )
    expect(html).toBe(
      [
        '<h1 id="a-b">A &lt;b&gt;</h1>',
        '<p>See [x](javascript:alert(1)) and <a href="https://a.example/?a=&quot;b&quot;&amp;c">y</a> <code>&lt;i&gt;</code>.</p>',
        '<div class="wide" tabindex="0"><table><thead><tr><th>a</th><th><code>b|c</code></th></tr></thead>' +
          '<tbody><tr><td>|</td><td><strong>z</strong></td></tr></tbody></table></div>',
      ].join('\n'),
    )
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'<>"&`*[]()|#- \na') }), (text) => {
        const left = renderMarkdown(text).replace(
          /<\/?(?:p|h[1-4]|strong|code|pre|ul|ol|li|table|thead|tbody|tr|th|td|div)(?: (?:id|class|tabindex)="[^"<>]*")*>|<a href="[^"<>]*">|<\/a>/g,
          '',
        )
        expect(left).not.toMatch(/[<>]/)
      }),
    )
  })

  test.skipIf(!hasChromium)(
    'in a browser: sets a key, tries an operation, and calls no other host',
    async () => {
      const shop = await store(app)
      const { page, asked, faults } = await openPage()
      await page.goto(`${url}/docs`)
      await page.getByRole('heading', { name: 'Merchant API', level: 1 }).waitFor()
      await page.getByPlaceholder('Token').fill(shop.key)
      await page.getByRole('button', { name: 'Open Search' }).click()
      await page.getByRole('searchbox').or(page.getByRole('combobox')).last().fill('time zone')
      await page.getByRole('option').first().waitFor()
      await page.keyboard.press('Escape')

      await page.goto(`${url}/docs#tag/store-and-team/GET/store/information`)
      const operation = page.locator('section', { hasText: 'get_store_information' }).last()
      await operation.getByText('Needs').first().waitFor()
      await operation
        .getByRole('button', { name: /Test Request/ })
        .first()
        .click()
      await page.getByRole('button', { name: /^Send/ }).first().click()
      await page.getByText(shop.slug).first().waitFor()
      expect(asked.filter((address) => !address.startsWith(url) && !address.startsWith('data:'))).toEqual([])
      expect(faults).toEqual([])
    },
  )

  test.skipIf(!hasChromium)(
    'in a browser: a linked operation is shown early, until the reference is drawn',
    async () => {
      const { page, faults } = await openPage()
      const isEarly = page.locator('#early h1')
      await page.setViewportSize({ width: 390, height: 844 })
      let isHeld = true
      await page.route('**/docs/scalar.js', (route) => (isHeld ? route.abort() : route.continue()))
      const { paths } = (await (await fetch(`${url}/v1/openapi.json`)).json()) as {
        paths: Record<string, Record<string, { summary: string; tags: string[] }>>
      }
      const all = Object.entries(paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, each]) => ({ path, method: method.toUpperCase(), each })),
      )
      // The longest description and body, a path parameter, a body in parts, and some of each kind.
      for (const { path, method, each } of all.filter((_, n) => n % 17 === 0)) {
        const tag = each.tags[0]!.toLowerCase().replaceAll(' ', '-')
        await page.goto(`${url}/docs?${method}${path.replace(/\W/g, '')}#tag/${tag}/${method}${path}`)
        await isEarly.waitFor()
        expect(await isEarly.textContent()).toBe(each.summary)
        expect(await page.locator('#early').textContent()).not.toMatch(/undefined|\[object|\*\*|`/)
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBeLessThanOrEqual(
          0,
        )
      }
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme })
        await expect.poll(() => findViolations(page, [])).toEqual([])
      }
      // For an unknown operation nothing is rendered early.
      await page.goto(`${url}/docs?none#tag/store-and-team/GET/nowhere`)
      await page.waitForFunction('document.readyState === "complete"')
      expect(await page.locator('#early').count()).toBe(0)
      isHeld = false
      faults.length = 0
      await page.setViewportSize({ width: 1280, height: 900 })
      await page.goto(`${url}/docs?whole#tag/store-and-team/GET/store/information`, { waitUntil: 'commit' })
      await isEarly.waitFor()
      await page.locator('#reference section', { hasText: 'get_store_information' }).last().waitFor()
      await page.locator('#early').waitFor({ state: 'detached' })
      expect(faults).toEqual([])
    },
  )

  test.skipIf(!hasChromium)(
    'in a browser: is accessible, in light and dark, on a desktop and a phone, and while a request is tried',
    async () => {
      for (const [width, colorScheme] of [
        [1280, 'light'],
        [390, 'dark'],
      ] as const) {
        const { page } = await openPage()
        await page.setViewportSize({ width, height: 900 })
        await page.emulateMedia({ colorScheme })
        await page.goto(`${url}/docs#tag/store-and-team/GET/store/information`)
        const operation = page.locator('section', { hasText: 'get_store_information' }).last()
        await operation.getByText('Needs').first().waitFor()
        await expect.poll(() => findViolations(page, ['best-practice'])).toEqual([])
        if (width < 1000) continue
        await operation
          .getByRole('button', { name: /Test Request/ })
          .first()
          .click()
        await page.getByRole('button', { name: /^Send/ }).first().waitFor()
        // Content behind the dialog is hidden by Scalar.
        await expect
          .poll(async () =>
            (await findViolations(page, ['best-practice'])).filter(
              (each) => !each.startsWith('landmark-no-duplicate-main'),
            ),
          )
          .toEqual([])
      }
    },
  )
})
