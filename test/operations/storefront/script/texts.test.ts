/** Texts in elements: patterns of pages, and cut texts. */
import { expect, test } from 'vitest'

const { matchesPath, truncate } = await import(
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
