// Finds the spots of elements and the product cards: a theme's marks first, else selectors of known themes, and rules for
// choosing among what they match.

/**
 * Spots by name. `in` are selectors, the more precise ones first: Shopify's Dawn and the themes derived from it, Horizon,
 * WooCommerce's Storefront, PrestaShop's Classic, Nuvemshop. `side` is where an element is inserted, relative to the
 * found node. `has`: what a node must show to be preferred. `isOuter`: if the found node
 * is its parent's only child, the parent is used. `isInColumn`: the element stays in the node's own column. `isSticky`: it
 * stays with a part of the node that is sticky.
 */
const galleries = {
  in: [
    ...['.product__media-wrapper', '.product-information__media media-gallery', 'media-gallery'],
    ...['.woocommerce-product-gallery', '.page-content:has(> .images-container)'],
    ...['.product-gallery', '.js-product-slider'],
  ],
}
/** The gallery around a node, or null. */
export const findGallery = (each) => each.closest(galleries.in.join())
const titles = {
  in: [
    '.product__title',
    '.product_title',
    'h1.product-title',
    '.js-product-name',
    '.product-details h1',
    'main h1',
  ],
  isOuter: true,
}
const buys = {
  in: [
    ...[
      '.product-add-to-cart',
      'form[action*="/cart/add"]',
      'form.cart',
      '.js-product-form',
      '.product-form',
    ],
    'form:has([name="add"], [name="add-to-cart"])',
  ],
  has: '[name="add"], [name="add-to-cart"], [type="submit"], button:not([type])',
}
const cardTitles = {
  in: [
    ...['.card__heading', '.product-card__title', '.woocommerce-loop-product__title', '.product-title'],
    ...['.js-item-name', '[role="heading"]', 'h3', 'h2'],
  ],
  isOuter: true,
}
const spots = {
  floating: { in: ['body'], side: 'append' },
  gallery: { ...galleries, side: 'append', isSticky: true },
  'below-gallery': { ...galleries, side: 'after', isInColumn: true },
  'above-title': { ...titles, side: 'before' },
  'below-title': { ...titles, side: 'after' },
  'below-price': {
    in: [
      ...['.product__info-container .price', '.product-details product-price', '.summary .price'],
      ...['.product-prices', '.product-price', '.js-price-display', 'main .price'],
    ],
    side: 'after',
    isOuter: true,
  },
  'above-buy-button': { ...buys, side: 'before' },
  'below-buy-button': { ...buys, side: 'after' },
  'below-description': {
    in: [
      ...['.product__description', '.woocommerce-tabs', '.product-information > .tabs'],
      ...['.woocommerce-product-details__short-description', '.product-description'],
      ...['.js-product-description', '.product-details .rte:not(:has(h1)):not(product-price)'],
    ],
    side: 'after',
  },
  'contact-form': { in: [], side: 'append' },
  'page-top': { in: ['#content-wrapper', 'main'], side: 'prepend' },
  'page-middle': {
    in: [
      ...['section.page-home > *', '#content-wrapper > section > :not(meta, h1, header)'],
      ...['main > section', 'main > .shopify-section', 'main > :first-child'],
    ],
    side: 'after',
  },
  'page-bottom': { in: ['#content-wrapper', 'main'], side: 'append' },
  cart: {
    in: [
      ...['#main-cart-items', '.cart-page__items', 'cart-items-component', '.woocommerce-cart-form'],
      ...['.cart-container', 'form[action$="/cart"]', '.js-ajax-cart-panel', 'main .cart'],
    ],
    side: 'before',
    isInColumn: true,
  },
  'card-image': {
    in: [
      ...[
        '.card__media',
        '.card-gallery',
        '.product-card__image',
        '.thumbnail-top',
        '.item-image',
        'picture',
        'img',
      ],
    ],
    side: 'after',
    isInColumn: true,
  },
  'card-above-title': { ...cardTitles, side: 'before' },
  'card-title': { ...cardTitles, side: 'after' },
  'card-price': {
    in: [
      ...['product-price', '.product-price-and-shipping', '.price', '.product-card__price'],
      '.item-price-container',
    ],
    side: 'after',
    isOuter: true,
  },
}

const find = (root, selector) => Element.prototype.querySelector.call(root, selector)
const listIn = (root, selector) => [...Element.prototype.querySelectorAll.call(root, selector)]

export const isShown = (each) =>
  each.checkVisibility?.({ visibilityProperty: true }) !== false && each.offsetHeight > 0
/** Inside what lies over the page: a dialog, a drawer, or a sticky bar with a second price and button. */
export function isOverPage(each) {
  if (each.closest('dialog, [role="dialog"]')) return true
  for (let box = each; box && box !== document.body; box = box.parentElement) {
    if (getComputedStyle(box).position === 'fixed') return true
  }
  return false
}

/** Whether the children of `box` form columns, so that another child would be a column of its own. */
function hasColumns(box) {
  const { display, flexDirection, gridTemplateColumns } = getComputedStyle(box)
  if (/flex/.test(display)) return flexDirection.startsWith('row')
  return /grid/.test(display) && gridTemplateColumns.split(' ').length > 1
}

/** Regions that themes redraw whole or that screen readers announce whenever something in them changes. */
const announced = '[role="status"], [role="alert"], [aria-live]:not([aria-live="off"])'

/** The node next to which an element stays when the theme redraws, and where there is room for it. */
function findOuter(at, root, { isOuter, isInColumn }) {
  const isLimit = (each) => !each || each === root || !root.contains(each) || each.matches('main, body, li')
  let found = at
  for (
    let box = at.parentElement?.closest(announced);
    !isLimit(box);
    box = box.parentElement?.closest(announced)
  )
    found = box
  while (!isInColumn && !isLimit(found.parentElement)) {
    const { parentElement } = found
    const isAll =
      isOuter &&
      [...parentElement.children].every((each) => each === found || each.localName.startsWith('store-'))
    if (!isAll && !hasColumns(parentElement)) break
    found = parentElement
  }
  return found
}

/** The part of a gallery that stays in view while the page scrolls, or the gallery. */
const findSticky = (at) =>
  [...at.children].find((each) => getComputedStyle(each).position === 'sticky' && find(each, pictures)) ?? at

/**
 * Finds a spot in the page, outside the cards of other products than `productId`, or in a card: `{ at, side }`, or null.
 * A mark of the theme takes precedence.
 */
export function findSpot(root, name, productId) {
  const [mark] = listIn(root, `[data-store-spot~="${name}"]`)
  if (mark) return { at: mark, side: 'append' }
  const spot = spots[name]
  if (!spot) return null
  const { has, side } = spot
  const isOther = (each) => productId && ![undefined, productId].includes(idOfCard(each.closest(cardsIn)))
  const all = spot.in
    .flatMap((selector) => listIn(root, selector))
    .filter((each) => !isOverPage(each) && !isOther(each))
  const at =
    all.find((each) => isShown(each) && (!has || listIn(each, has).some(isShown))) ??
    all.find(isShown) ??
    all[0]
  if (!at) return null
  if (!/after|before/.test(side)) return { at: spot.isSticky ? findSticky(at) : at, side }
  const outer = findOuter(at, root, spot)
  const isColumn =
    spot.isInColumn &&
    !/^(img|picture)$/.test(outer.localName) &&
    (hasColumns(outer.parentElement) || getComputedStyle(outer).float !== 'none')
  if (!isColumn) return { at: outer, side }
  return { at: outer, side: side === 'before' ? 'prepend' : 'append' }
}

const pictures = 'img, picture, video, .placeholder-svg'
const prices = '[class*="price" i], product-price'
/** Regions in which a link to a product is not a card. */
const elsewhere = 'header, footer, nav, form[action*="/cart"], [class*="cart"], [data-store-spot], dialog'

/**
 * How cards name their product: in links by its handle, in WooCommerce's buttons and PrestaShop's cards by its id.
 * Addresses of product pages contain one of these words; Shopify's may begin with a collection.
 */
const named = [
  {
    in: 'a[href*="/product"], a[href*="/produto"]',
    idOf: ({ href }, handles) => handles[/\/produ(?:ct|c?to)s?\/([^/?#]+)/i.exec(href)?.[1]],
  },
  { in: '[data-product_id]', idOf: ({ dataset }) => dataset.product_id },
  { in: '[data-id-product]', idOf: ({ dataset }) => dataset.idProduct },
]
const cardsIn = '[data-product-id], [data-store-card]'
export const idOfCard = (card) => card?.dataset.storeCard ?? card?.dataset.productId

/**
 * The product cards of the page except for its own product, with the ids of their products: elements with
 * `data-product-id`, and what surrounds other names of products with a picture. The latter are marked by
 * `data-store-card`. `handles`: ids by handle.
 */
export function findCards(productId, handles) {
  for (const { in: selector, idOf } of named) {
    for (const name of listIn(document.documentElement, selector)) {
      const id = idOf(name, handles)
      if (!id || id === productId || name.parentElement.closest(elsewhere)) continue
      const within = name.closest(cardsIn)
      if (within && idOfCard(within) !== productId) continue
      let card = name
      for (let box = card; !box.matches('main, body, section, ul, ol'); box = box.parentElement) {
        if (listIn(box, selector).some((each) => idOf(each, handles) !== id)) break
        card = box
        if (find(box, pictures) && find(box, prices)) break
      }
      if (find(card, pictures)) card.dataset.storeCard = id
    }
  }
  return listIn(document.documentElement, cardsIn).flatMap((card) => {
    const id = idOfCard(card)
    const isInner = idOfCard(card.parentElement.closest(cardsIn)) === id
    return id && id !== productId && !isInner && !card.localName.startsWith('store-') ? [[card, id]] : []
  })
}
