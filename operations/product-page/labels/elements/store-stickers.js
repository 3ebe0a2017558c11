// Stickers over a product's picture: on its own page, or on a card of a list.

import { h, hideBroken, useEffect, useState } from '../../../storefront/script/client/elements.js'

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
.over { position: absolute; pointer-events: none; z-index: 2; container-type: inline-size; text-align: center; }
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
  const box = useBoxOver(host, items.length > 0)
  if (!box) return null
  return h(
    'div',
    { class: 'over', part: 'stickers', style: box },
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

/** Where the picture is, which stands before the element: its page may lay it out as it likes. Null: nothing to cover. */
function useBoxOver(host, isWanted) {
  const [box, setBox] = useState(null)
  useEffect(() => {
    const picture = isWanted ? pictureBefore(host) : null
    if (!picture) return setBox(null)
    const look = () => setBox((before) => boxOver(picture, host, before))
    const watch = new ResizeObserver(look)
    const shown = picture.offsetParent ?? document.body
    for (const each of new Set([picture, shown, document.body])) watch.observe(each)
    look()
    return () => watch.disconnect()
  }, [host, isWanted])
  return box
}

function boxOver(picture, host, before) {
  const around = positionedAround(host)
  const [its, from] = [picture.getBoundingClientRect(), around.getBoundingClientRect()]
  // Of a page that is not positioned itself the edge is the document's.
  const isPage = around === document.documentElement
  const left = its.left - from.left - (isPage ? 0 : around.clientLeft) + (isPage ? 0 : around.scrollLeft)
  const top = its.top - from.top - (isPage ? 0 : around.clientTop) + (isPage ? 0 : around.scrollTop)
  const box = { left: `${left}px`, top: `${top}px`, width: `${its.width}px`, height: `${its.height}px` }
  return before && Object.keys(box).every((key) => box[key] === before[key]) ? before : box
}

function positionedAround(host) {
  for (let each = host.parentElement; each; each = each.parentElement) {
    const { position, transform } = getComputedStyle(each)
    if (position !== 'static' || transform !== 'none') return each
  }
  return document.documentElement
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
