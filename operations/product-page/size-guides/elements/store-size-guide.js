// Shows a product's size guide in a dialog, in a drawer, or inline, with a calculator of the shopper's size.

import { Dialog, h, Later, useState } from '../../../storefront/script/client/elements.js'
import { Icon } from '../../../storefront/script/client/icons.js'

export default {
  css: `
:host { display: block; }
.opener { display: inline-flex; align-items: center; gap: 6px; padding: 4px 0; border: 0; background: none; text-decoration: underline;
  text-align: start; overflow-wrap: anywhere; }
.guide { overflow-wrap: anywhere; }
.inline { margin: 16px 0; }
h2 { margin: 0 24px 12px 0; font-size: 1.3em; }
h3 { margin: 16px 0 8px; font-size: 1.05em; }
dialog { width: min(640px, calc(100vw - 16px)); max-width: none; border-radius: 10px; background: #fff; color: #111827; }
dialog::backdrop { background: rgb(0 0 0 / .5); }
dialog.drawer { position: fixed; inset: 0; inset-inline-start: auto; margin: 0; margin-inline-start: auto; height: 100dvh;
  max-height: 100dvh; width: min(480px, 100vw); border-radius: 0; }
.units { display: inline-flex; margin: 0 0 8px; padding: 0; border: 1px solid #6b7280; border-radius: 6px; overflow: hidden; }
.units button { border: 0; padding: 6px 16px; min-height: 32px; background: none; }
.units button[aria-pressed=true] { background: #111827; color: #fff; }
@media (forced-colors: active) {
  .units button[aria-pressed=true] { forced-color-adjust: none; background: Highlight; color: HighlightText; }
}
.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 14px; font-variant-numeric: tabular-nums; overflow-wrap: normal; }
caption { text-align: start; font-weight: 600; padding: 8px 0; }
th, td { padding: 8px 10px; border: 1px solid #d1d5db; text-align: center; }
thead th { background: #f3f4f6; color: #111827; }
tbody th { font-weight: 600; }
.yours > * { background: #dcfce7; color: #14532d; }
.image { display: block; margin: 12px auto; }
.html > :first-child { margin-block-start: 0; }
.html table { font-size: inherit; }
details { margin: 8px 0 16px; border: 1px solid #d1d5db; border-radius: 6px; padding: 0 12px; }
summary { padding: 10px 0; min-height: 24px; cursor: pointer; font-weight: 600; }
form { padding-bottom: 12px; }
.fields { display: grid; gap: 0 12px; grid-template-columns: repeat(auto-fill, minmax(130px, 1fr)); }
.action { background: #111827; color: #fff; margin-top: 4px; }
.result { margin: 12px 0 0; }
.result:empty { display: none; }
.result strong { font-size: 1.15em; }
`,
  texts: {
    en: { close: 'Close' },
    'pt-BR': { close: 'Fechar' },
    es: { close: 'Cerrar' },
  },
  places: ({ display }) => [{ spot: display === 'inline' ? 'below-description' : 'above-buy-button' }],
  view: SizeGuide,
}

const loadTables = () => import('./guide-tables.js')

function SizeGuide({ data, ...context }) {
  const [isOpen, setOpen] = useState(false)
  const { t } = context
  const close = () => setOpen(false)
  const heading = h('h2', { part: 'title' }, data.name)
  if (data.display === 'inline') {
    return h(
      'section',
      { class: 'guide inline', part: 'guide', 'aria-label': data.name },
      heading,
      h(Later, { ...context, data, load: loadTables }),
    )
  }
  return [
    h(
      'button',
      {
        type: 'button',
        class: 'opener',
        part: 'button',
        'aria-haspopup': 'dialog',
        onPointerEnter: loadTables,
        onClick: () => setOpen(true),
      },
      h(Icon, { name: 'ruler', size: 20 }),
      data.linkText,
    ),
    isOpen
      ? h(
          Dialog,
          { label: data.name, closeText: t('close'), class: data.display, onClose: close },
          h(
            'div',
            { class: 'guide', part: 'guide' },
            heading,
            h(Later, { ...context, data, load: loadTables, onClose: close }),
          ),
        )
      : null,
  ]
}
