// Where elements stand that a theme did not place: at its own marks (`data-store-spot`), or at spots of known themes.

/** Each spot: where to look, the theme's own mark first, and on which side of what is found the element stands. */
const spots = {
  floating: { in: ['body'], side: 'append' },
  gallery: { in: ['.product__media-wrapper', '.product-gallery', '.js-product-slider'], side: 'append' },
  'below-gallery': {
    in: ['.product__media-wrapper', '.product-gallery', '.js-product-slider'],
    side: 'after',
  },
  'below-title': { in: ['.product__title', '.product-title', '.js-product-name', 'main h1'], side: 'after' },
  'below-price': {
    in: ['.product__info-container .price', '.product-price', '.js-price-display', 'main .price'],
    side: 'after',
  },
  'above-buy-button': {
    in: ['form[action*="/cart/add"]', '.js-product-form', '.product-form'],
    side: 'before',
  },
  'below-buy-button': {
    in: ['form[action*="/cart/add"]', '.js-product-form', '.product-form'],
    side: 'after',
  },
  'below-description': {
    in: ['.product__description', '.product-description', '.js-product-description'],
    side: 'after',
  },
  'page-bottom': { in: ['main'], side: 'append' },
  cart: {
    in: ['#main-cart-items', 'form[action$="/cart"]', '.js-ajax-cart-panel', 'main .cart'],
    side: 'before',
  },
}
const cardSpots = {
  'card-image': { in: ['.card__media', '.product-card__image', 'picture', 'img'], side: 'after' },
  'card-title': { in: ['.card__heading', '.product-card__title', 'h3', 'h2'], side: 'after' },
  'card-price': { in: ['.price', '.product-card__price'], side: 'after' },
}

/** What is fixed shares one column a corner, and one strip an edge: nothing lies over its neighbour. */
function keptPlace(name) {
  const [kind, ...sides] = name.split('-')
  if (kind !== 'edge' && kind !== 'corner') return null
  const known = find(document.body, `[data-store-spot~="${name}"]`)
  if (known) return known
  const made = document.createElement('div')
  made.dataset.storeSpot = name
  const [block, inline] = sides
  if (kind === 'edge') {
    const isSticky = sides.includes('sticky')
    Object.assign(made.style, { [block]: 0, position: isSticky ? 'sticky' : 'static', zIndex: 9000 })
    if (block === 'top') document.body.prepend(made)
    else document.body.append(made)
    return made
  }
  Object.assign(made.style, {
    position: 'fixed',
    zIndex: 9500,
    [block]: '16px',
    display: 'flex',
    flexDirection: block === 'top' ? 'column' : 'column-reverse',
    gap: '12px',
    maxWidth: 'calc(100vw - 32px)',
    pointerEvents: 'none',
    ...(inline === 'center'
      ? { left: '50%', transform: 'translateX(-50%)', alignItems: 'center' }
      : { [inline]: '16px', alignItems: inline === 'left' ? 'flex-start' : 'flex-end' }),
  })
  document.body.append(made)
  return made
}

const find = (root, selector) => Element.prototype.querySelector.call(root, selector)
const findFirst = (root, name, selectors) => {
  const marked = find(root, `[data-store-spot~="${name}"]`)
  if (marked) return { at: marked, side: 'append' }
  for (const selector of selectors) {
    const at = find(root, selector)
    if (at) return { at, side: null }
  }
  return null
}

/** Whether a page has anything to place within: marks, product cards, or a page of a kind. */
export const spotsOn = (page) =>
  page !== 'other' || find(document.documentElement, '[data-store-spot], [data-product-id]') !== null

function put(tag, at, side, attributes) {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) if (value != null) made.setAttribute(name, value)
  made.placed = at
  if (at.dataset.storeSpot?.startsWith('corner')) made.style.pointerEvents = 'auto'
  at[side](made)
  return made
}

/**
 * `wanted`: `{ spot, attributes? }` of the page, or `{ card, attributes? }` of each product card. Nothing is placed where
 * the theme, or an earlier look, has one already.
 */
export function place(tag, wanted) {
  for (const { spot, card, attributes = {} } of wanted) {
    if (card) placeOnCards(tag, card, attributes)
    else placeOnPage(tag, spot, attributes)
  }
}

function placeOnPage(tag, name, attributes) {
  const same = `${tag}${attributes.placement ? `[placement="${attributes.placement}"]` : ':not([placement])'}`
  const there = [...document.querySelectorAll(same)]
  if (there.some((each) => !each.closest('[data-product-id]'))) return
  const kept = keptPlace(name)
  if (kept) return put(tag, kept, 'append', attributes)
  const spot = spots[name]
  if (!spot) return
  const found = findFirst(document.documentElement, name, spot.in)
  if (found) put(tag, found.at, found.side ?? spot.side, attributes)
}

function placeOnCards(tag, name, attributes) {
  const spot = cardSpots[name]
  for (const card of document.querySelectorAll('[data-product-id]')) {
    if (find(card, tag) || card.localName.startsWith('store-')) continue
    const found = findFirst(card, name, spot.in)
    if (found)
      put(tag, found.at, found.side ?? spot.side, { ...attributes, 'product-id': card.dataset.productId })
  }
}
