// Shows badges near a product's name, price or button: those of one `placement`, or all of them.

import { h } from '../../../storefront/script/client/elements.js'
import { Icon } from '../../../storefront/script/client/icons.js'

const cardSpots = {
  'above-title': 'card-above-title',
  'below-title': 'card-title',
  'below-price': 'card-price',
}

export default {
  css: `
:host { display: block; }
ul { display: flex; flex-wrap: wrap; gap: 6px; margin: 6px 0; padding: 0; list-style: none; }
li { display: inline-flex; align-items: center; gap: 6px; padding: 3px 10px; font-size: 14px; overflow-wrap: anywhere; }
:host([product-id]) li { font-size: 12px; padding: 2px 8px; }
:host([product-id]) ul { margin: 4px 0; }
svg { flex: none; }
`,
  places: ({ items }, { page, widgets }) => {
    const own = page === 'product' ? listPlacements(items) : []
    const listed = listPlacements(
      Object.values(widgets.cards ?? {}).flatMap(({ badges }) => badges?.items ?? []),
    )
    return [
      ...own.map((placement) => ({ spot: placement, attributes: { placement } })),
      ...listed
        .filter((placement) => cardSpots[placement])
        .map((placement) => ({ card: cardSpots[placement], attributes: { placement } })),
    ]
  },
  view: Badges,
}

const listPlacements = (items) => [...new Set(items.map(({ placement }) => placement))]

function Badges({ data, card, attribute }) {
  const placement = attribute('placement')
  const all = (card ? card.badges?.items : data.items.filter(({ scope }) => scope === undefined)) ?? []
  const items = all.filter((each) => placement === null || each.placement === placement)
  if (items.length === 0) return null
  return h(
    'ul',
    { part: 'badges', role: 'list' },
    items.map(({ id, text, icon, backgroundColor: background, textColor: color, borderRadius }) =>
      h(
        'li',
        { key: id, part: 'badge', style: { background, color, borderRadius: `${borderRadius}px` } },
        icon ? h(Icon, { name: icon, size: 16 }) : null,
        text,
      ),
    ),
  )
}
