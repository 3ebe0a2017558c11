// Renders each type of content block inside its box.

import { h, hideBroken, money, useState } from '../../../storefront/script/client/elements.js'
import { Html } from '../../../storefront/script/client/html.js'
import { Icon, isIcon } from '../../../storefront/script/client/icons.js'

const plural = (name, count, { t, shop }) => {
  const form = new Intl.PluralRules(shop.locale).select(count)
  return t(`${name}.${form === 'one' ? 'one' : 'other'}`, { count: count.toLocaleString(shop.locale) })
}

function Warranty({ design, ...context }) {
  const { duration, durationUnit, coverageHtml, icon, linkText, linkUrl } = design
  return h(
    'div',
    { class: 'warranty' },
    h(Icon, { name: icon, size: 40 }),
    h(
      'div',
      null,
      h('strong', { part: 'duration' }, plural(durationUnit, duration, context)),
      h(Html, { class: 'html', part: 'html', html: coverageHtml }),
      linkUrl ? h('a', { href: linkUrl, part: 'link' }, linkText) : null,
    ),
  )
}

/**
 * Questions and answers. A click is counted for an answer that the shopper opens, not for one that is open from the
 * start.
 */
function Faq({ design, onChosen }) {
  return design.items.map(({ question, answerHtml }, at) =>
    h(
      'details',
      { key: question, part: 'item', open: design.openFirst && at === 0 },
      h(
        'summary',
        {
          part: 'question',
          onClick({ currentTarget }) {
            if (!currentTarget.parentElement.open) onChosen()
          },
        },
        question,
      ),
      h(Html, { class: 'html', part: 'answer', html: answerHtml }),
    ),
  )
}

const renderPicture = (src, props = {}) =>
  src ? h('img', { key: src, src, alt: '', loading: 'lazy', onError: hideBroken, ...props }) : null

function Comparison({ design: { columns, rows, title }, t, shop }) {
  const getClass = (at) => (columns[at].isHighlighted ? 'highlighted' : undefined)
  const Column = ({ title: name, imageUrl, product }) => {
    const inside = [renderPicture(imageUrl ?? product?.imageUrl), name]
    return [
      product ? h('a', { href: product.url, part: 'link' }, inside) : inside,
      product
        ? h('div', { part: 'price' }, money(product.price, { ...shop, currency: product.currency }))
        : null,
    ]
  }
  const cellText = (cell) =>
    typeof cell === 'boolean'
      ? h('span', { class: 'mark', role: 'img', 'aria-label': t(cell ? 'yes' : 'no') }, cell ? '✓' : '–')
      : cell
  return h(
    'div',
    { class: 'wide', tabIndex: 0, role: 'region', 'aria-label': title ?? t('comparison') },
    h(
      'table',
      { part: 'table', style: { '--columns': columns.length + 1 } },
      h(
        'thead',
        null,
        h(
          'tr',
          null,
          h('td', null, h('span', { class: 'hidden' }, t('feature'))),
          columns.map((column, at) =>
            h(
              'th',
              { scope: 'col', class: getClass(at), part: column.isHighlighted ? 'highlighted' : undefined },
              Column(column),
            ),
          ),
        ),
      ),
      h(
        'tbody',
        null,
        rows.map(({ label, cells }) =>
          h(
            'tr',
            null,
            h('th', { scope: 'row' }, label),
            cells.map((cell, at) => h('td', { class: getClass(at) }, cellText(cell))),
          ),
        ),
      ),
    ),
  )
}

const RichText = ({ design }) => h(Html, { class: 'html', part: 'html', html: design.html })

const Specifications = ({ design: { rows, layout } }) =>
  h(
    'dl',
    { class: `specifications${layout === 'two-columns' ? ' two' : ''}`, part: 'list' },
    rows.map(({ label, value }) => h('div', null, h('dt', null, label), h('dd', null, value))),
  )

const Features = ({ design: { items, columns } }) =>
  h(
    'ul',
    { class: 'features', part: 'list', style: { '--columns': columns } },
    items.map(({ icon, title, text }) =>
      h(
        'li',
        { part: 'item' },
        isIcon(icon) ? h(Icon, { name: icon, size: 32 }) : renderPicture(icon),
        h('strong', null, title),
        text ? h('p', null, text) : null,
      ),
    ),
  )

/** A banner. If its picture does not load, it shows the alternative text instead. */
function Banner({ design, t }) {
  const { imageUrl, mobileImageUrl, alt, linkUrl, openInNewTab } = design
  const [isBroken, setBroken] = useState(false)
  const picture = isBroken
    ? h('span', null, alt)
    : h(
        'picture',
        null,
        mobileImageUrl ? h('source', { media: '(max-width: 767px)', srcset: mobileImageUrl }) : null,
        h('img', { src: imageUrl, alt, loading: 'lazy', part: 'image', onError: () => setBroken(true) }),
      )
  if (!linkUrl) return h('div', { class: 'banner' }, picture)
  return h(
    'a',
    {
      class: 'banner',
      part: 'link',
      href: linkUrl,
      ...(openInNewTab ? { target: '_blank', rel: 'noopener' } : {}),
    },
    picture,
    openInNewTab ? h('span', { class: 'hidden' }, ` ${t('opensNew')}`) : null,
  )
}

/** Two pictures, one over the other. With a slider the shopper sets how much of the first one is visible. */
function BeforeAfter({ design, t, shop, onChosen }) {
  const { beforeImageUrl, afterImageUrl, beforeLabel: before, afterLabel: after, startPosition } = design
  const [at, setAt] = useState(startPosition)
  const [isBroken, setBroken] = useState(false)
  const [isMoved, setMoved] = useState(false)
  if (isBroken) return null
  const onMoved = () => {
    if (!isMoved) onChosen()
    setMoved(true)
  }
  const picture = (src, alt) =>
    h('img', { src, alt, loading: 'lazy', onError: () => setBroken(true), draggable: false })
  return h(
    'div',
    { class: 'comparing', part: 'comparing', style: { '--at': `${at}%` } },
    picture(afterImageUrl, after),
    h('div', { class: 'before' }, picture(beforeImageUrl, before)),
    h('span', { class: 'label', part: 'label', style: { left: '8px' }, 'aria-hidden': 'true' }, before),
    h('span', { class: 'label', part: 'label', style: { right: '8px' }, 'aria-hidden': 'true' }, after),
    h('input', {
      type: 'range',
      min: 0,
      max: 100,
      value: at,
      'aria-label': t('compare', { before, after }),
      'aria-valuetext': `${before} ${new Intl.NumberFormat(shop.locale, { style: 'percent' }).format(at / 100)}`,
      onInput: ({ target }) => setAt(Number(target.value)),
      onChange: onMoved,
    }),
    h('span', { class: 'line' }),
  )
}

const Steps = ({ design: { items, title } }) =>
  h(
    'ol',
    { class: 'steps', part: 'list', role: 'list' },
    items.map(({ title: name, textHtml, imageUrl }, at) =>
      h(
        'li',
        { part: 'item' },
        h('span', { class: 'number', 'aria-hidden': 'true' }, at + 1),
        h(title ? 'h3' : 'h2', { part: 'step-title', class: 'step' }, name),
        renderPicture(imageUrl),
        h(Html, { class: 'html', part: 'html', html: textHtml }),
      ),
    ),
  )

export const designs = {
  warranty: Warranty,
  faq: Faq,
  comparison: Comparison,
  'rich-text': RichText,
  specifications: Specifications,
  features: Features,
  'image-banner': Banner,
  'before-after': BeforeAfter,
  steps: Steps,
}
