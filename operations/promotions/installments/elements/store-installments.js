// Shows the installments of a product or of the cart: one line, and a table of all options.

import { inkHere } from '../../../storefront/script/client/colours.js'
import { filled, h, money, useCart, useProduct } from '../../../storefront/script/client/elements.js'
import { buildOptions, findRule } from './installments-math.js'

const texts = {
  en: {
    count: 'Installments',
    each: 'Each',
    total: 'Total',
    free: 'interest-free',
    interest: '{{rate}}% a month',
    first: 'the first {{amount}}',
  },
  'pt-BR': {
    count: 'Parcelas',
    each: 'Cada',
    total: 'Total',
    free: 'sem juros',
    interest: '{{rate}}% ao mês',
    first: 'a primeira {{amount}}',
  },
  es: {
    count: 'Cuotas',
    each: 'Cada una',
    total: 'Total',
    free: 'sin interés',
    interest: '{{rate}}% al mes',
    first: 'la primera {{amount}}',
  },
}

/** The setting that enables each `placement`. */
const settingNames = { card: 'showInProductList', cart: 'showInCart' }
const isShown = (settings, placement) => settings[settingNames[placement] ?? 'showInProductPage']

export default {
  css: `
:host { display: block; overflow-wrap: anywhere; }
:host([placement="cart"]) { padding-block-end: 12px; }
p { margin: 4px 0; }
.free::before { content: ''; display: inline-block; width: .6em; height: .6em; margin-inline-end: .4em; border-radius: 50%;
  background: var(--highlight); forced-color-adjust: none; }
summary { cursor: pointer; min-height: 24px; }
table { width: 100%; max-width: 480px; margin: 4px 0 8px; border-collapse: collapse; font-size: min(1em, 15px); }
caption { text-align: start; font-weight: 600; padding: 4px 0; }
th, td { padding: 4px 8px 4px 0; border-bottom: 1px solid #e5e7eb; text-align: start; vertical-align: top; font-weight: 400; }
thead th { font-weight: 600; }
small { display: block; font-size: 12px; }
`,
  texts,
  places: ({ settings }, { page }) => [
    ...(page === 'product' && settings.showInProductPage ? [{ spot: 'below-price' }] : []),
    ...(page === 'cart' && settings.showInCart ? [{ spot: 'cart', attributes: { placement: 'cart' } }] : []),
    ...(settings.showInProductList ? [{ card: 'card-price', attributes: { placement: 'card' } }] : []),
  ],
  view: Installments,
}

function Installments(props) {
  const { data, attribute, t, shop } = props
  const { settings, rules } = data
  // Some themes give prices as text.
  const price = Number(usePrice(props))
  const placement = attribute('placement')
  if (!(price > 0 && Number.isFinite(price)) || !isShown(settings, placement)) return null
  const rule = findRule(price, rules, shop)
  const options = buildOptions(price, rule, shop)
  const named = chooseOption(options, settings.display)
  if (!named) return null
  const { textColor, fontSize, highlightColor } = settings
  const color = inkHere(props.host, textColor, '#374151')
  const rate = new Intl.NumberFormat(shop.locale, { maximumFractionDigits: 4 }).format(
    rule.monthlyInterestRate,
  )
  const text = filled(named.isInterestFree ? settings.interestFreeText : settings.interestText, {
    installments: String(named.installments),
    amount: money(named.amount, shop),
    total: money(named.total, shop),
    rate,
  })
  return h(
    'div',
    { part: 'installments', style: { color, fontSize: `${fontSize}px`, '--highlight': highlightColor } },
    h('p', { part: 'text', class: named.isInterestFree ? 'free' : '' }, text),
    settings.showTable && placement !== 'card'
      ? h(
          'details',
          { part: 'details' },
          h('summary', { part: 'summary' }, settings.tableTitle),
          h(Table, { rule, options, rate, t, shop }),
        )
      : null,
  )
}

/** The price to pay in installments: of the cart, of a card's product, or of the page's chosen variant. */
function usePrice({ data, card, attribute, productId, shop }) {
  const cart = useCart(shop.currency)
  const pageProduct = useProduct(attribute, shop)
  const placement = attribute('placement')
  if (cart?.isForeign || pageProduct.isForeign) return null
  if (placement === 'cart') return cart?.total
  // Uses the server's price: some themes write cents into the card's price attribute.
  if (placement === 'card') return card?.installments?.price
  const own = attribute('product-id') ?? productId
  const isOwn = String(pageProduct.productId ?? own) === own
  return (isOwn ? pageProduct.price : null) ?? data.simulation?.amount
}

/** The option shown in the line, or null if a single payment is the only option. */
function chooseOption(options, display) {
  const all = options.filter(({ installments }) => installments > 1)
  const free = all.filter(({ isInterestFree }) => isInterestFree)
  return (display === 'max-interest-free' ? free.at(-1) : null) ?? all.at(-1) ?? null
}

function Table({ rule, options, rate, t, shop }) {
  return h(
    'table',
    { part: 'table' },
    h('caption', null, rule.name),
    h(
      'thead',
      null,
      h(
        'tr',
        null,
        ['count', 'each', 'total'].map((name) => h('th', { scope: 'col' }, t(name))),
      ),
    ),
    h(
      'tbody',
      null,
      options.map(({ installments, amount, firstAmount, total, isInterestFree }) =>
        h(
          'tr',
          { key: installments, part: isInterestFree ? 'option free' : 'option' },
          h('th', { scope: 'row', class: isInterestFree ? 'free' : '' }, `${installments}x`),
          h(
            'td',
            null,
            money(amount, shop),
            firstAmount === amount
              ? null
              : h('small', null, t('first', { amount: money(firstAmount, shop) })),
          ),
          h(
            'td',
            null,
            money(total, shop),
            h('small', null, isInterestFree ? t('free') : t('interest', { rate })),
          ),
        ),
      ),
    ),
  )
}
