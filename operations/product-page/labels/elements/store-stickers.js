// Stickers over a product's picture: on its own page, or on a card of a list.

import { h, hideBroken, useRef } from '../../../storefront/script/client/elements.js'
import { Corner, overCss, useOver } from '../../../storefront/script/client/over.js'

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
${overCss}.sticker { width: var(--width); }
.sticker.words { min-width: min-content; overflow-wrap: normal; padding: 4px 6px; border-radius: 4px; font-weight: 700; line-height: 1.15;
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
        Corner,
        { key: corner, host, corner, tells: true },
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
