/** The pages of the sandbox's shop. */

import type { Product } from '#operations/store/door'
import { escaped } from '#operations/store/door'
import { moneyOnPage } from '#runtime/values/localized'
import type { OpenShop } from './catalog.ts'
import { categoryLinks, grid, pathOf, shopPage } from './layout.ts'
import { wordsOf } from './words.ts'

const onHome = 8

export async function homePage(shop: OpenShop): Promise<Response> {
  const products = await shop.products({ sort: '-updatedAt', limit: onHome })
  const { name } = shop.ctx.store
  return shopPage(shop, {
    title: wordsOf(shop.ctx.store.locale).home,
    kind: 'home',
    main: `<section class="hero"><h1>${escaped(name)}</h1>${categoryLinks(shop, shop.categories)}</section>
${grid(shop, products)}<div data-store-spot="page-middle"></div><div data-store-spot="page-bottom"></div>`,
  })
}

export async function categoryPage(shop: OpenShop, categoryId: string): Promise<Response> {
  const products = await shop.products({ categoryId })
  const name = shop.categories.find(({ id }) => id === categoryId)?.name ?? categoryId
  return shopPage(shop, {
    title: name,
    kind: 'category',
    main: `<h1>${escaped(name)}</h1>${grid(shop, products)}<div data-store-spot="page-bottom"></div>`,
  })
}

const optionOf = ({ id, name, price, isAvailable }: Product['variants'][number]): string =>
  `<option value="${escaped(id)}" data-price="${price}"${isAvailable ? '' : ' data-sold-out'}>${escaped(name)}</option>`

export function productPage(shop: OpenShop, product: Product): Response {
  const { locale } = shop.ctx.store
  const words = wordsOf(locale)
  const image = product.imageUrl
    ? `<img src="${escaped(product.imageUrl)}" alt="${escaped(product.name)}" width="600" height="600">`
    : '<span class="nothing"></span>'
  const spot = (name: string): string => `<div data-store-spot="${name}"></div>`
  return shopPage(shop, {
    title: product.name,
    kind: 'product',
    productId: product.id,
    main: `<div class="product"><div><div class="gallery">${image}${spot('gallery')}</div>${spot('below-gallery')}</div>
<div><h1>${escaped(product.name)}</h1>${spot('below-title')}
<p class="price" data-price>${escaped(moneyOnPage(product.price, product.currency, locale))}</p>${spot('below-price')}
${spot('above-buy-button')}
<form class="buy" action="${escaped(pathOf(shop, '/cart'))}/add" method="post" data-buy="${escaped(product.id)}">
<label${product.variants.length > 1 ? '' : ' hidden'}>${escaped(words.variant)} <select name="variantId">${product.variants.map(optionOf).join('')}</select></label>
<label>${escaped(words.quantity)} <input name="quantity" type="number" min="1" max="99" value="1"></label>
<button data-sold-out-text="${escaped(words.soldOut)}">${escaped(words.buy)}</button><output role="status"></output></form>${spot('below-buy-button')}
<h2>${escaped(words.description)}</h2><p>${escaped(words.about)}</p>${spot('below-description')}</div></div>${spot('page-bottom')}`,
  })
}

export function cartPage(shop: OpenShop): Response {
  const words = wordsOf(shop.ctx.store.locale)
  return shopPage(shop, {
    title: words.cart,
    kind: 'cart',
    main: `<h1>${escaped(words.cart)}</h1><div data-store-spot="cart"></div>
<div data-cart data-empty="${escaped(words.empty)}" data-remove="${escaped(words.remove)}" data-discount="${escaped(words.discount)}" data-total="${escaped(words.total)}"></div>
<form class="coupon" data-coupon><label>${escaped(words.coupon)} <input name="code" maxlength="60"></label><button>OK</button></form>
<p><a class="button" href="${escaped(pathOf(shop, '/checkout'))}">${escaped(words.checkout)}</a></p>`,
  })
}

export function checkoutPage(shop: OpenShop): Response {
  const words = wordsOf(shop.ctx.store.locale)
  return shopPage(shop, {
    title: words.checkout,
    kind: 'other',
    main: `<h1>${escaped(words.checkout)}</h1><div data-cart data-empty="${escaped(words.empty)}" data-discount="${escaped(words.discount)}" data-total="${escaped(words.total)}"></div>
<form class="checkout" data-checkout action="${escaped(pathOf(shop, '/cart'))}" data-thanks="${escaped(words.thanks)}">
<label>${escaped(words.name)} <input name="name" autocomplete="name" required></label>
<label>${escaped(words.email)} <input name="email" type="email" autocomplete="email" required></label>
<label>${escaped(words.phone)} <input name="phone" type="tel" autocomplete="tel"></label>
<button>${escaped(words.order)}</button><output role="status"></output></form>`,
  })
}

export const wishlistPage = (shop: OpenShop): Response =>
  shopPage(shop, {
    title: wordsOf(shop.ctx.store.locale).wishlist,
    kind: 'other',
    main: '<store-wishlist></store-wishlist>',
  })

export const contactPage = (shop: OpenShop): Response =>
  shopPage(shop, {
    title: wordsOf(shop.ctx.store.locale).contact,
    kind: 'other',
    main: '<store-contact-form></store-contact-form>',
  })
