/** Pages of the sandbox shop. */

import type { Product } from '#operations/store/index'
import { escapeHtml } from '#operations/store/index'
import { formatMoneyForPage } from '#runtime/values/localized'
import type { OpenShop } from './catalog.ts'
import { buildPath, renderCategoryLinks, renderGrid, renderShopPage } from './layout.ts'
import { getTexts } from './texts.ts'

const onHome = 8

export async function renderHomePage(shop: OpenShop): Promise<Response> {
  const products = await shop.products({ sort: '-updatedAt', limit: onHome })
  const { name } = shop.ctx.store
  return renderShopPage(shop, {
    title: getTexts(shop.ctx.store.locale).home,
    kind: 'home',
    main: `<section class="hero"><h1>${escapeHtml(name)}</h1>${renderCategoryLinks(shop, shop.categories)}</section>
${renderGrid(shop, products)}<div data-store-spot="page-middle"></div><div data-store-spot="page-bottom"></div>`,
  })
}

export async function renderCategoryPage(shop: OpenShop, categoryId: string): Promise<Response> {
  const products = await shop.products({ categoryId })
  const name = shop.categories.find(({ id }) => id === categoryId)?.name ?? categoryId
  return renderShopPage(shop, {
    title: name,
    kind: 'category',
    main: `<h1>${escapeHtml(name)}</h1>${renderGrid(shop, products)}<div data-store-spot="page-bottom"></div>`,
  })
}

const renderOption = (
  { id, name, price, isAvailable }: Product['variants'][number],
  chosen: string | null,
): string =>
  `<option value="${escapeHtml(id)}" data-price="${price}"${isAvailable ? '' : ' data-sold-out'}${id === chosen ? ' selected' : ''}>${escapeHtml(name)}</option>`

/** `chosen`: the variant of the address (`?variant=`), as shops choose it for a link. */
export function renderProductPage(shop: OpenShop, product: Product, chosen: string | null): Response {
  const { locale } = shop.ctx.store
  const words = getTexts(locale)
  const image = product.imageUrl
    ? `<img src="${escapeHtml(product.imageUrl)}" alt="${escapeHtml(product.name)}" width="600" height="600">`
    : '<span class="nothing"></span>'
  const spot = (name: string): string => `<div data-store-spot="${name}"></div>`
  return renderShopPage(shop, {
    title: product.name,
    kind: 'product',
    productId: product.id,
    main: `<div class="product"><div><div class="gallery">${image}${spot('gallery')}</div>${spot('below-gallery')}</div>
<div><h1>${escapeHtml(product.name)}</h1>${spot('below-title')}
<p class="price" data-price>${escapeHtml(formatMoneyForPage(product.price, product.currency, locale))}</p>${spot('below-price')}
${spot('above-buy-button')}
<form class="buy" action="${escapeHtml(buildPath(shop, '/cart'))}/add" method="post" data-buy="${escapeHtml(product.id)}">
<label${product.variants.length > 1 ? '' : ' hidden'}>${escapeHtml(words.variant)} <select name="variantId">${product.variants.map((each) => renderOption(each, chosen)).join('')}</select></label>
<label>${escapeHtml(words.quantity)} <input name="quantity" type="number" min="1" max="99" value="1"></label>
<button data-sold-out-text="${escapeHtml(words.soldOut)}">${escapeHtml(words.buy)}</button><output role="status"></output></form>${spot('below-buy-button')}
<h2>${escapeHtml(words.description)}</h2><p>${escapeHtml(words.about)}</p>${spot('below-description')}</div></div>${spot('page-bottom')}`,
  })
}

export function renderCartPage(shop: OpenShop): Response {
  const words = getTexts(shop.ctx.store.locale)
  return renderShopPage(shop, {
    title: words.cart,
    kind: 'cart',
    main: `<h1>${escapeHtml(words.cart)}</h1><div data-store-spot="cart"></div>
<div data-cart data-empty="${escapeHtml(words.empty)}" data-remove="${escapeHtml(words.remove)}" data-discount="${escapeHtml(words.discount)}" data-total="${escapeHtml(words.total)}"></div>
<form class="coupon" data-coupon><label>${escapeHtml(words.coupon)} <input name="code" maxlength="60"></label><button>OK</button></form>
<p><a class="button" href="${escapeHtml(buildPath(shop, '/checkout'))}">${escapeHtml(words.checkout)}</a></p>`,
  })
}

export function renderCheckoutPage(shop: OpenShop): Response {
  const words = getTexts(shop.ctx.store.locale)
  return renderShopPage(shop, {
    title: words.checkout,
    kind: 'other',
    main: `<h1>${escapeHtml(words.checkout)}</h1><div data-cart data-empty="${escapeHtml(words.empty)}" data-discount="${escapeHtml(words.discount)}" data-total="${escapeHtml(words.total)}"></div>
<form class="checkout" data-checkout action="${escapeHtml(buildPath(shop, '/cart'))}" data-thanks="${escapeHtml(words.thanks)}">
<label>${escapeHtml(words.name)} <input name="name" autocomplete="name" required></label>
<label>${escapeHtml(words.email)} <input name="email" type="email" autocomplete="email" required></label>
<label>${escapeHtml(words.phone)} <input name="phone" type="tel" autocomplete="tel"></label>
<button>${escapeHtml(words.order)}</button><output role="status"></output></form>`,
  })
}

export const renderWishlistPage = (shop: OpenShop): Response =>
  renderShopPage(shop, {
    title: getTexts(shop.ctx.store.locale).wishlist,
    kind: 'other',
    main: '<store-wishlist></store-wishlist>',
  })

export const renderContactPage = (shop: OpenShop): Response =>
  renderShopPage(shop, {
    title: getTexts(shop.ctx.store.locale).contact,
    kind: 'other',
    main: `<h1>${escapeHtml(getTexts(shop.ctx.store.locale).contact)}</h1><store-contact-form></store-contact-form>`,
  })
