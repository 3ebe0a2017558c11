/**
 * A page of the sandbox's shop, as a theme would write it: our loader in one line, marks where elements may stand, and a
 * policy as strict as a shop's can be, which whatever we put into it has to live with.
 */
import { randomBytes } from 'node:crypto'
import type { Category, Product } from '#operations/store/door'
import { escaped } from '#operations/store/door'
import { moneyOnPage } from '#runtime/values/localized'
import type { ShopFacts } from './catalog.ts'
import { wordsOf } from './words.ts'

export const pathOf = ({ slug }: Pick<ShopFacts, 'slug'>, path = ''): string =>
  `/sandbox/shop/${encodeURIComponent(slug)}${path}`

interface Page {
  title: string
  kind: 'home' | 'category' | 'product' | 'cart' | 'other'
  productId?: string
  /** HTML, its texts escaped already. */
  main: string
}

export function shopPage(shop: ShopFacts, { title, kind, productId, main }: Page): Response {
  const { store, settings } = shop.ctx
  const nonce = randomBytes(16).toString('base64')
  const loader = `${settings.publicUrl}/storefront/${store.publicId}/loader.js`
  const ours = new URL(settings.publicUrl).origin
  const about = productId === undefined ? '' : ` data-product-id="${escaped(productId)}"`
  const words = wordsOf(store.locale)
  const link = (path: string, text: string): string =>
    `<a href="${escaped(pathOf(shop, path))}">${escaped(text)}</a>`
  const html = `<!doctype html>
<html lang="${escaped(store.locale)}"><head><meta charset="utf-8"><title>${escaped(`${title} · ${store.name}`)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<meta property="og:site_name" content="${escaped(store.name)}"><meta property="og:title" content="${escaped(title)}">
<link rel="icon" href="data:,"><link rel="stylesheet" href="/sandbox/shop.css">
<script nonce="${nonce}" src="/sandbox/shop.js" defer></script>
<script nonce="${nonce}" async src="${escaped(loader)}" data-page="${kind}" data-fresh="always"${about}></script></head>
<body data-shop="${escaped(pathOf(shop))}" data-store="${escaped(shop.slug)}" data-currency="${escaped(store.currency)}">
<header><a class="name" href="${escaped(pathOf(shop))}">${escaped(store.name)}</a>
<nav>${shop.categories.map(({ id, name }) => link(`/categories/${id}`, name)).join('')}</nav>
<nav class="own">${link('/wishlist', words.wishlist)}<a href="${escaped(pathOf(shop, '/cart'))}">${escaped(words.cart)} <b data-cart-count>0</b></a></nav></header>
<main>${main}</main>
<footer><p>${escaped(words.footer)}</p><p>${link('/exchanges', words.exchanges)} · ${link('/contact', words.contact)} · <a href="/sandbox?store=${escaped(shop.slug)}">Sandbox</a></p></footer>
</body></html>`
  return new Response(html, {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy':
        `default-src 'none'; script-src 'nonce-${nonce}' 'strict-dynamic'; style-src 'self'; img-src * data:; ` +
        `media-src *; font-src *; connect-src 'self' ${ours}; form-action 'self' ${ours}; base-uri 'none'; ` +
        "frame-ancestors 'self'; require-trusted-types-for 'script'",
    },
  })
}

const picture = ({ imageUrl, name }: Pick<Product, 'imageUrl' | 'name'>): string =>
  imageUrl
    ? `<img src="${escaped(imageUrl)}" alt="${escaped(name)}" width="600" height="600" loading="lazy">`
    : `<span class="nothing" role="img" aria-label="${escaped(name)}"></span>`

/** A product as lists show it. */
function card(shop: ShopFacts, product: Product): string {
  const { locale } = shop.ctx.store
  const isGone = product.variants.every(({ isAvailable }) => !isAvailable)
  return `<article class="card" data-product-id="${escaped(product.id)}" data-price="${product.price}"${isGone ? ' data-sold-out' : ''}>
<a class="image" tabindex="-1" aria-hidden="true" href="${escaped(pathOf(shop, `/products/${product.id}`))}">${picture(product)}</a><div class="card-marks" data-store-spot="card-image"></div>
<h3><a href="${escaped(pathOf(shop, `/products/${product.id}`))}">${escaped(product.name)}</a></h3><div data-store-spot="card-title"></div>
<p class="price">${escaped(moneyOnPage(product.price, product.currency, locale))}</p><div data-store-spot="card-price"></div></article>`
}

export const grid = (shop: ShopFacts, products: readonly Product[]): string =>
  `<div class="grid">${products.map((product) => card(shop, product)).join('')}</div>`

export const categoryLinks = (shop: ShopFacts, categories: readonly Category[]): string =>
  categories
    .map(
      ({ id, name }) =>
        `<a class="chip" href="${escaped(pathOf(shop, `/categories/${id}`))}">${escaped(name)}</a>`,
    )
    .join('')
