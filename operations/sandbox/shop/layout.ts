/**
 * Layout of the sandbox shop, like that of a theme. It includes our loader in one line, spots for elements, and a very
 * strict content security policy, to show that our elements work with it.
 */
import { randomBytes } from 'node:crypto'
import type { Category, Product } from '#operations/store/index'
import { escapeHtml } from '#operations/store/index'
import { formatMoneyForPage } from '#runtime/values/localized'
import type { ShopFacts } from './catalog.ts'
import { getTexts } from './texts.ts'

export const buildPath = ({ slug }: Pick<ShopFacts, 'slug'>, path = ''): string =>
  `/sandbox/shop/${encodeURIComponent(slug)}${path}`

interface Page {
  title: string
  kind: 'home' | 'category' | 'product' | 'cart' | 'other'
  productId?: string
  /** HTML with escaped texts. */
  main: string
}

export function renderShopPage(shop: ShopFacts, { title, kind, productId, main }: Page): Response {
  const { store, settings } = shop.ctx
  const nonce = randomBytes(16).toString('base64')
  const loader = `${settings.publicUrl}/storefront/${store.publicId}/loader.js`
  const ours = new URL(settings.publicUrl).origin
  const about = productId === undefined ? '' : ` data-product-id="${escapeHtml(productId)}"`
  const words = getTexts(store.locale)
  const link = (path: string, text: string): string =>
    `<a href="${escapeHtml(buildPath(shop, path))}">${escapeHtml(text)}</a>`
  const html = `<!doctype html>
<html lang="${escapeHtml(store.locale)}"><head><meta charset="utf-8"><title>${escapeHtml(`${title} · ${store.name}`)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="robots" content="noindex">
<meta property="og:site_name" content="${escapeHtml(store.name)}"><meta property="og:title" content="${escapeHtml(title)}">
<link rel="icon" href="data:,"><link rel="stylesheet" href="/sandbox/shop.css">
<script nonce="${nonce}" src="/sandbox/shop.js" defer></script>
<script nonce="${nonce}" async src="${escapeHtml(loader)}" data-page="${kind}" data-root="${escapeHtml(buildPath({ slug: shop.address }))}" data-fresh="always"${about}></script></head>
<body data-shop="${escapeHtml(buildPath(shop))}" data-store="${escapeHtml(shop.slug)}" data-currency="${escapeHtml(store.currency)}">
<header><a class="name" href="${escapeHtml(buildPath(shop))}">${escapeHtml(store.name)}</a>
<nav aria-label="${escapeHtml(words.categories)}">${shop.categories.map(({ id, name }) => link(`/categories/${id}`, name)).join('')}</nav>
<nav class="own" aria-label="${escapeHtml(words.own)}">${link('/wishlist', words.wishlist)}<a href="${escapeHtml(buildPath(shop, '/cart'))}">${escapeHtml(words.cart)} <b data-cart-count>0</b></a></nav></header>
<main>${main}</main>
<footer><p>${escapeHtml(words.footer)}</p><p>${link('/exchanges', words.exchanges)} · ${link('/contact', words.contact)} · <a href="/sandbox?store=${escapeHtml(shop.slug)}&amp;story=widgets">${escapeHtml(words.allWidgets)}</a> · <a href="/sandbox?store=${escapeHtml(shop.slug)}">Sandbox</a></p></footer>
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

const renderPicture = ({ imageUrl, name }: Pick<Product, 'imageUrl' | 'name'>): string =>
  imageUrl
    ? `<img src="${escapeHtml(imageUrl)}" alt="${escapeHtml(name)}" width="600" height="600" loading="lazy">`
    : `<span class="nothing" role="img" aria-label="${escapeHtml(name)}"></span>`

/** Product card in lists. */
function renderCard(shop: ShopFacts, product: Product): string {
  const { locale } = shop.ctx.store
  const isGone = product.variants.every(({ isAvailable }) => !isAvailable)
  return `<article class="card" data-product-id="${escapeHtml(product.id)}" data-price="${product.price}"${isGone ? ' data-sold-out' : ''}>
<a class="image" tabindex="-1" aria-hidden="true" href="${escapeHtml(buildPath(shop, `/products/${product.id}`))}">${renderPicture(product)}</a><div class="card-marks" data-store-spot="card-image"></div>
<h2><a href="${escapeHtml(buildPath(shop, `/products/${product.id}`))}">${escapeHtml(product.name)}</a></h2><div data-store-spot="card-title"></div>
<p class="price">${escapeHtml(formatMoneyForPage(product.price, product.currency, locale))}</p><div data-store-spot="card-price"></div></article>`
}

export const renderGrid = (shop: ShopFacts, products: readonly Product[]): string =>
  `<div class="grid">${products.map((product) => renderCard(shop, product)).join('')}</div>`

export const renderCategoryLinks = (shop: ShopFacts, categories: readonly Category[]): string =>
  categories
    .map(
      ({ id, name }) =>
        `<a class="chip" href="${escapeHtml(buildPath(shop, `/categories/${id}`))}">${escapeHtml(name)}</a>`,
    )
    .join('')
