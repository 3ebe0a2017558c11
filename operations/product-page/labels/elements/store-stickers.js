// Stickers over a product's picture: on its own page, or on a card of a list.

import { h, hideBroken, useEffect, useRef } from '../../../storefront/script/client/elements.js'

const presets = {
  en: {
    new: 'New',
    sale: 'Sale',
    'best-seller': 'Best seller',
    limited: 'Limited edition',
    exclusive: 'Exclusive',
    'free-shipping': 'Free shipping',
  },
  'pt-BR': {
    new: 'Novo',
    sale: 'Promoção',
    'best-seller': 'Mais vendido',
    limited: 'Edição limitada',
    exclusive: 'Exclusivo',
    'free-shipping': 'Frete grátis',
  },
  es: {
    new: 'Nuevo',
    sale: 'Oferta',
    'best-seller': 'Más vendido',
    limited: 'Edición limitada',
    exclusive: 'Exclusivo',
    'free-shipping': 'Envío gratis',
  },
}

export default {
  css: `
:host { display: contents; }
.over { position: absolute; inset: 0 auto auto 0; visibility: hidden; pointer-events: none; z-index: 2; container-type: inline-size; text-align: center; }
.corner { position: absolute; display: flex; flex-direction: column; gap: 4px; width: 100%; padding: 6px; }
.top-left, .top-right { inset-block-start: 0; }
.bottom-left, .bottom-right { inset-block-end: 0; flex-direction: column-reverse; }
.top-left, .bottom-left { align-items: flex-start; inset-inline-start: 0; }
.top-right, .bottom-right { align-items: flex-end; inset-inline-end: 0; }
.sticker { width: var(--width); }
.sticker.words { min-width: min-content; padding: 4px 6px; border-radius: 4px; font-weight: 700; line-height: 1.15;
  font-size: clamp(11px, 3.6cqi, 18px); }
img { display: block; width: 100%; height: auto; }
`,
  texts: presets,
  places: (_data, { page }) => [...(page === 'product' ? [{ spot: 'gallery' }] : []), { card: 'card-image' }],
  view: Stickers,
}

const corners = ['top-left', 'top-right', 'bottom-left', 'bottom-right']

function Stickers({ data, card, host, t }) {
  const items = (card ? card.stickers?.items : data.items.filter(({ scope }) => scope === undefined)) ?? []
  const over = useRef(null)
  useOver(over, host, items.length > 0)
  if (items.length === 0) return null
  return h(
    'div',
    { ref: over, class: 'over', part: 'stickers' },
    corners.map((corner) => {
      const its = items.filter(({ position }) => position === corner)
      if (its.length === 0) return null
      return h(
        'div',
        { class: `corner ${corner}` },
        its.map((item) => h(Sticker, { key: item.id, item, t })),
      )
    }),
  )
}

function Sticker({ item, t }) {
  const {
    kind,
    imageUrl,
    text,
    preset,
    widthPercentage,
    backgroundColor: background,
    textColor: color,
  } = item
  const style = { '--width': `${widthPercentage}%` }
  if (kind === 'image') {
    return h('img', {
      class: 'sticker',
      part: 'sticker image',
      style,
      src: imageUrl,
      alt: '',
      onError: hideBroken,
    })
  }
  return h(
    'span',
    { class: 'sticker words', part: `sticker ${kind}`, style: { ...style, background, color } },
    kind === 'preset' ? t(preset) : text,
  )
}

/** Keeps what `over` is on where the picture is, which stands before the element: its page may lay it out as it likes. */
function useOver(over, host, isWanted) {
  useEffect(() => {
    const picture = isWanted ? pictureBefore(host) : null
    if (!picture) return
    const look = () => lieOver(over.current, picture)
    const watch = new ResizeObserver(look)
    for (const each of new Set([picture, picture.parentElement, document.body])) watch.observe(each)
    look()
    return () => watch.disconnect()
  }, [host, isWanted])
}

/** Moved by how far it is off, whatever it is placed within. */
function lieOver(over, picture) {
  if (!over) return
  const { style, offsetLeft, offsetTop } = over
  const [its, own] = [picture.getBoundingClientRect(), over.getBoundingClientRect()]
  const wanted = {
    left: offsetLeft + its.left - own.left,
    top: offsetTop + its.top - own.top,
    width: its.width,
    height: its.height,
  }
  for (const [key, value] of Object.entries(wanted)) {
    if (Math.abs(Number.parseFloat(style[key]) - value) < 0.5) continue
    style[key] = `${value}px`
  }
  style.visibility = 'visible'
}

const find = (root) => Element.prototype.querySelectorAll.call(root, 'img, picture, video')

/** What stands before it, or before what holds it; the one picture within, where there is one. */
function pictureBefore(host) {
  for (let each = host; each && each !== document.body; each = each.parentElement) {
    for (let one = each.previousElementSibling; one; one = one.previousElementSibling) {
      if (one.localName.startsWith('store-')) continue
      const pictures = [...find(one)].filter(({ parentElement }) => parentElement.localName !== 'picture')
      return pictures.length === 1 ? pictures[0] : one
    }
    if (each.dataset.productId) return null
  }
  return null
}
