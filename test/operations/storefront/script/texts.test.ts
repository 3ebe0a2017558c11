/** Texts in elements: patterns of pages, and cut texts. */
import { afterEach, expect, test, vi } from 'vitest'

const { matchesPage, matchesPath, truncate } = await import(
  new URL('../../../../operations/storefront/script/client/texts.js', import.meta.url).href
)

test.each([
  ['/produtos/*', '/produtos/1', true],
  ['/produtos/*', '/outros/1', false],
  ['https://loja.example/produtos/*', '/produtos/1', true],
  ['HTTPS://loja.example', '/', true],
  ['https://loja.example/?utm_source=x', '/', true],
  ['https://loja.example*', '/any', true],
  [' /produtos/* ', '/produtos/1', true],
  ['/promoção/*', '/promo%C3%A7%C3%A3o/1', true],
  ['/promoc\u0327a\u0303o', '/promo%C3%A7%C3%A3o', true],
  ['/promo%C3%A7%C3%A3o', '/promo%C3%A7%C3%A3o', true],
  ['/商品/*', '/%E5%95%86%E5%93%81/1', true],
  ['/50%', '/50%', true],
  ['*/cart', '/pt/cart', true],
  ['/a.b', '/axb', false],
])('pattern %s and path %s: %s', (pattern, path, isMatch) => {
  expect(matchesPath(pattern, path)).toBe(isMatch)
})

test('a text is cut between graphemes', () => {
  expect(truncate('ab👨‍👩‍👧c', 5)).toBe('ab')
  expect(truncate('abc', 5)).toBe('abc')
})

interface PageSettings {
  root?: string
  routes?: { root: string }
}

test.each<[string, string, PageSettings, boolean]>([
  ['data-root', '/sandbox/shop/a/checkout', { root: '/sandbox/shop/a' }, true],
  ['Shopify', '/en/checkout/1', { routes: { root: '/en/' } }, true],
  ['neither', '/checkout', {}, true],
  ['another folder', '/shop/ab/checkout', { root: '/shop/a' }, false],
])(
  'a pattern names pages within the folder of the shop: %s',
  (_case, pathname, { root, routes }, isMatch) => {
    vi.stubGlobal('location', { pathname })
    vi.stubGlobal('window', { Shopify: routes && { routes } })
    vi.stubGlobal('document', { querySelector: () => (root ? { dataset: { root } } : null) })
    expect(matchesPage('/checkout*')).toBe(isMatch)
    expect(matchesPage(`${pathname}*`)).toBe(true)
  },
)
afterEach(() => {
  vi.unstubAllGlobals()
})
