// The "notify me when it is back" button and form, on product pages and on cards in lists.

import {
  Dialog,
  h,
  Later,
  useProduct,
  useSheet,
  useState,
} from '../../../storefront/script/client/elements.js'

export default {
  css: `
:host { display: block; }
.open { margin: 8px 0; min-height: 40px; padding: 8px 16px; max-width: 100%; }
.box { width: 420px; }
h2 { margin: 0 0 8px; padding-inline-end: 32px; font-size: 20px; }
p { margin: 0 0 12px; }
fieldset { border: 0; margin: 0 0 8px; padding: 0; display: flex; flex-wrap: wrap; gap: 4px 16px; }
legend { padding: 0; font-size: 14px; }
.way { display: inline-flex; gap: 8px; align-items: center; min-height: 32px; }
.action { width: 100%; margin-block-start: 8px; }
`,
  texts: {
    en: { notificationRequestMessage: 'Notify me when it is back', close: 'Close' },
    'pt-BR': { notificationRequestMessage: 'Avise-me quando chegar', close: 'Fechar' },
    es: { notificationRequestMessage: 'Avísame cuando vuelva', close: 'Cerrar' },
  },
  places: ({ buttonShowInProductList, soldOutVariants }) => [
    ...(soldOutVariants?.length > 0 ? [{ spot: 'below-buy-button' }] : []),
    ...(buttonShowInProductList ? [{ card: 'card-price' }] : []),
  ],
  view: StockAlert,
}

const loadForm = () => import('./alert-form.js')

function StockAlert({ data, card, host, attribute, productId, ask, shop, t }) {
  const wanted = attribute('product-id') ?? productId
  const isPage = data.productId !== null && data.productId === wanted
  const chosen = useProduct(attribute)
  const [isOpen, setOpen] = useState(false)
  const css = (isPage ? data.buttonInProductPageCSS : data.buttonInProductListCSS) ?? ''
  // The merchant's CSS is either whole rules, which apply to this element's content, or declarations for the button.
  useSheet(host, css.includes('{') ? css : '')
  const soldOut = isPage ? data.soldOutVariants : (card?.stockAlerts?.variants ?? [])
  // If the theme reports the chosen variant, the button subscribes to that variant; otherwise the form asks for one.
  const variantId =
    isPage && String(chosen.productId ?? wanted) === wanted ? chosen.variantId : attribute('variant-id')
  const variants = variantId ? soldOut.filter((each) => each.variantId === String(variantId)) : soldOut
  if (variants.length === 0) return null
  const words = data.notificationRequestMessage
  return h(
    'div',
    null,
    h(
      'button',
      {
        type: 'button',
        class: 'open',
        part: 'button',
        'aria-haspopup': 'dialog',
        'aria-label': words ? null : t('notificationRequestMessage'),
        style: styleOf(data, css),
        onPointerEnter: loadForm,
        onClick: () => setOpen(true),
      },
      words || '🔔',
    ),
    isOpen
      ? h(AlertDialog, {
          data,
          variants,
          source: isPage ? 'product-page' : 'product-list',
          ask,
          shop,
          t,
          onClose: () => setOpen(false),
        })
      : null,
  )
}

const lengthOf = (text) => (/^\d+(\.\d+)?$/.test(text ?? '') ? `${text}px` : text || '')

/** The button's style. The merchant's declarations come last, so that they win. */
const styleOf = (data, css) =>
  [
    `color:${data.buttonFontColor ?? ''}`,
    `background:${data.buttonBackgroundColor ?? ''}`,
    `border:1px solid ${data.buttonBorderColor || 'transparent'}`,
    `border-radius:${lengthOf(data.buttonBorderRadius)}`,
    css.includes('{') ? '' : css,
  ].join(';')

function AlertDialog({ data, variants, source, ask, shop, t, onClose }) {
  const { modalTitle: title, modalDescription: description } = data
  const style = {
    background: data.modalBackgroundColor,
    color: data.modalTextColor,
    borderRadius: lengthOf(data.modalBorderRadius),
  }
  return h(
    Dialog,
    { class: 'box', label: title || t('notificationRequestMessage'), closeText: t('close'), style, onClose },
    title ? h('h2', { part: 'title' }, title) : null,
    description ? h('p', { part: 'description' }, description) : null,
    h(Later, { load: loadForm, data, variants, source, ask, shop, onClose }),
  )
}
