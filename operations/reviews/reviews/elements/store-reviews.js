// Shows the reviews of a product, and a button for the form to write a review.

import { inkOn } from '../../../storefront/script/client/colours.js'
import {
  Dialog,
  dayOf,
  h,
  Later,
  useEffect,
  useRef,
  useState,
} from '../../../storefront/script/client/elements.js'
import { truncate } from '../../../storefront/script/client/texts.js'
import { Carousel, carouselCss, carouselTexts, Lightbox, lightboxCss } from './carousel.js'
import { findToken, formatCount, formatRating, ratingTexts, Stars } from './words.js'

/** Styles of the form, whose module comes later. */
const formCss = `
.write { width: 560px; max-width: min(560px, calc(100vw - 16px)); }
.write h2 { padding-inline-end: 32px; }
fieldset { border: 0; margin: 0 0 8px; padding: 0; min-width: 0; }
legend { padding: 0; font-size: 14px; }
.picks { display: inline-flex; }
.pick { position: relative; width: 44px; height: 44px; display: grid; place-items: center; font-size: 32px; line-height: 1;
  color: #767676; cursor: pointer; }
.pick input { position: absolute; inset: 0; opacity: 0; margin: 0; cursor: pointer; }
.pick:has(:focus-visible) { outline: 2px solid currentColor; border-radius: 4px; }
.taken { display: flex; flex-wrap: wrap; gap: 8px; margin: 8px 0; padding: 0; list-style: none; }
.taken li { position: relative; width: 88px; height: 88px; display: grid; place-items: center; border: 1px solid #767676; border-radius: 6px;
  font-size: 14px; overflow: hidden; }
.taken img { width: 100%; height: 100%; object-fit: cover; }
.taken button { position: absolute; inset-block-start: 2px; inset-inline-end: 2px; width: 28px; height: 28px; padding: 0; border: 0;
  border-radius: 50%; background: #111827; color: #fff; line-height: 1; }
.hint { font-size: 14px; margin: 4px 0 8px; }
`

export default {
  css: `
:host { display: block; min-height: 160px; scroll-margin-block-start: 16px; }
:host(:focus) { outline: none; }
section { padding: 24px 16px; overflow-wrap: anywhere; }
h2 { margin: 0 0 16px; font-size: 22px; }
h3 { margin: 4px 0; font-size: 16px; }
.head { display: flex; flex-wrap: wrap; gap: 16px 40px; align-items: center; margin-block-end: 16px; }
.average { font-size: 36px; font-weight: 600; line-height: 1.1; }
.bars { flex: 1 1 200px; max-width: 360px; margin: 0; padding: 0; list-style: none; font-size: 14px; }
.bars li { display: grid; grid-template-columns: 32px 1fr 32px; gap: 8px; align-items: center; }
.bars .n { text-align: end; }
.bar { height: 8px; border-radius: 4px; overflow: hidden; background: color-mix(in srgb, currentColor 15%, transparent); }
.bar > span { display: block; height: 100%; }
.sort { display: flex; gap: 8px; align-items: center; justify-content: flex-end; font-size: 14px; margin-block-end: 12px; }
.sort select { padding: 4px 8px; min-height: 36px; border: 1px solid #767676; border-radius: 6px; background: #fff; color: #111827; }
ul.list, ul.grid { margin: 0; padding: 0; list-style: none; display: grid; gap: 16px; }
ul.grid { grid-template-columns: repeat(auto-fill, minmax(min(100%, 280px), 1fr)); }
article { padding: 16px 0; }
.list article { border-block-start: 1px solid color-mix(in srgb, currentColor 20%, transparent); }
.grid article, .track article { padding: 16px; height: 100%; border: 1px solid color-mix(in srgb, currentColor 20%, transparent); border-radius: 8px; }
.by { display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: center; font-size: 14px; }
.verified { display: inline-flex; gap: 4px; align-items: center; }
.text { margin: 8px 0; white-space: pre-line; }
.plain { border: 0; background: none; padding: 4px 0; text-decoration: underline; }
.pictures { display: flex; flex-wrap: wrap; gap: 8px; margin: 8px 0; padding: 0; list-style: none; }
.pictures button { padding: 0; border: 0; background: none; border-radius: 6px; overflow: hidden; display: block; }
.pictures img { width: 88px; height: 88px; object-fit: cover; display: block; }
.reply { margin: 12px 0 0; padding: 8px 12px; border-inline-start: 3px solid currentColor; font-size: 14px; }
.reply p { margin: 4px 0 0; white-space: pre-line; }
.pages { display: flex; gap: 16px; align-items: center; justify-content: center; margin-block-start: 16px; }
.pages button { min-height: 44px; padding: 8px 16px; border: 1px solid currentColor; border-radius: 6px; background: none; }
.pages button:disabled { cursor: default; opacity: .4; }
${carouselCss}${lightboxCss}
${formCss}`,
  texts: {
    en: {
      ...ratingTexts.en,
      ...carouselTexts.en,
      label: 'Customer reviews',
      none: 'Nobody has reviewed this product yet.',
      stars: '{{rating}} stars: {{count}}',
      sort: 'Sort by',
      featured: 'Most relevant',
      newest: 'Newest',
      highest: 'Best rated',
      lowest: 'Worst rated',
      verified: 'Verified purchase',
      more: 'Read all',
      reply: 'Answer of {{name}}',
      picture: 'Picture {{at}} of {{count}}, by {{name}}',
      enlarge: 'Enlarge picture {{at}} of {{count}}, by {{name}}',
      close: 'Close',
      page: 'Page {{page}} of {{pages}}',
      pages: 'Pages of reviews',
      failed: 'The reviews could not be loaded.',
      again: 'Try again',
    },
    'pt-BR': {
      ...ratingTexts['pt-BR'],
      ...carouselTexts['pt-BR'],
      label: 'Avaliações de clientes',
      none: 'Ninguém avaliou este produto ainda.',
      stars: '{{rating}} estrelas: {{count}}',
      sort: 'Ordenar por',
      featured: 'Mais relevantes',
      newest: 'Mais recentes',
      highest: 'Melhores notas',
      lowest: 'Piores notas',
      verified: 'Compra verificada',
      more: 'Ler tudo',
      reply: 'Resposta de {{name}}',
      picture: 'Foto {{at}} de {{count}}, por {{name}}',
      enlarge: 'Ampliar a foto {{at}} de {{count}}, por {{name}}',
      close: 'Fechar',
      page: 'Página {{page}} de {{pages}}',
      pages: 'Páginas de avaliações',
      failed: 'Não foi possível carregar as avaliações.',
      again: 'Tentar de novo',
    },
    es: {
      ...ratingTexts.es,
      ...carouselTexts.es,
      label: 'Opiniones de clientes',
      none: 'Nadie ha opinado sobre este producto todavía.',
      stars: '{{rating}} estrellas: {{count}}',
      sort: 'Ordenar por',
      featured: 'Más relevantes',
      newest: 'Más recientes',
      highest: 'Mejor valoradas',
      lowest: 'Peor valoradas',
      verified: 'Compra verificada',
      more: 'Leer todo',
      reply: 'Respuesta de {{name}}',
      picture: 'Foto {{at}} de {{count}}, de {{name}}',
      enlarge: 'Ampliar la foto {{at}} de {{count}}, de {{name}}',
      close: 'Cerrar',
      page: 'Página {{page}} de {{pages}}',
      pages: 'Páginas de opiniones',
      failed: 'No se pudieron cargar las opiniones.',
      again: 'Intentar de nuevo',
    },
  },
  places: () => [{ spot: 'page-bottom' }],
  view: Reviews,
}

const loadForm = () => import('./review-form.js')

function Reviews({ data, ...others }) {
  const { attribute, productId, ask, shop, t } = others
  const shownId = attribute('product-id') ?? productId
  const token = findToken(attribute)
  const [{ page, sort }, setPlace] = useState({ page: 1, sort: data.sort })
  const [answer, setAnswer] = useState(null)
  const [hasFailed, setFailed] = useState(false)
  const [isWriting, setWriting] = useState(token !== null)
  const [times, setTimes] = useState(0)
  const list = useRef(null)

  useEffect(() => {
    if (!shownId) return
    let isHere = true
    ask(`/products/${encodeURIComponent(shownId)}/reviews?${new URLSearchParams({ page, sort })}`).then(
      (got) => {
        if (!isHere) return
        setFailed(false)
        setAnswer(got)
      },
      () => isHere && setFailed(true),
    )
    return () => {
      isHere = false
    }
  }, [shownId, page, sort, times])

  if (!shownId) return null
  const go = (place) => {
    setPlace({ page: 1, sort, ...place })
    list.current?.focus({ preventScroll: true })
    list.current?.scrollIntoView({ block: 'nearest' })
  }
  const { backgroundColor: background, textColor: color, buttonColor } = data
  const { title } = data
  const label = title || t('label')
  const endWriting = () => setWriting(false)
  const heading = h('h2', { part: 'title' }, t('write'))
  const write = h(
    'button',
    {
      type: 'button',
      class: 'action',
      part: 'write',
      style: { background: buttonColor, color: inkOn(buttonColor) },
      onPointerEnter: loadForm,
      onClick: () => setWriting(true),
    },
    t('write'),
  )
  return h(
    'section',
    { part: 'reviews', 'aria-label': label, style: { background, color } },
    title ? h('h2', { part: 'title' }, title) : null,
    answer ? h(Head, { ...answer, data, shop, write, t }) : null,
    hasFailed
      ? h(
          'p',
          { role: 'alert' },
          `${t('failed')} `,
          h('button', { type: 'button', class: 'plain', onClick: () => setTimes(times + 1) }, t('again')),
        )
      : null,
    answer ? h(List, { ...others, ...answer, reviews: answer.data, data, label, sort, list, go }) : null,
    isWriting
      ? h(
          Dialog,
          {
            class: 'write',
            label: t('write'),
            closeText: t('close'),
            style: { background, color },
            onClose: endWriting,
          },
          h(
            Later,
            {
              ...{ ...others, data, token, heading },
              load: loadForm,
              preferredId: shownId,
              onPublished: () => setTimes(times + 1),
              onClose: endWriting,
            },
            heading,
          ),
        )
      : null,
  )
}

function Head({ average, distribution, total, data, shop, write, t }) {
  if (total === 0) return h('div', { part: 'head' }, h('p', null, t('none')), write)
  const rating = formatRating(average, shop)
  return h(
    'div',
    { class: 'head', part: 'head' },
    h(
      'div',
      { part: 'summary' },
      h('div', { class: 'average', part: 'average', 'aria-hidden': 'true' }, rating),
      h(Stars, { rating: average, color: data.starColor, size: 20, label: t('rated', { rating }) }),
      h('div', { part: 'count' }, formatCount(total, t, shop)),
    ),
    h(
      'ul',
      { class: 'bars', part: 'distribution' },
      [5, 4, 3, 2, 1].map((n) => {
        const count = distribution[n]
        const width = `${(count / total) * 100}%`
        return h(
          'li',
          null,
          h('span', { class: 'hidden' }, t('stars', { rating: n, count })),
          h('span', { 'aria-hidden': 'true' }, `${n} ★`),
          h(
            'span',
            { class: 'bar', 'aria-hidden': 'true' },
            h('span', { style: { width, background: data.starColor } }),
          ),
          h('span', { class: 'n', 'aria-hidden': 'true' }, count),
        )
      }),
    ),
    write,
  )
}

function List({ data, data: { layout }, list, label, sort, page, limit, total, go, shop, t, reviews }) {
  const [shown, setShown] = useState(null)
  if (total === 0) return null
  const items = reviews.map((review) =>
    h(Review, { key: review.id, review, data, shop, t, onEnlarge: setShown }),
  )
  const pages = Math.ceil(total / limit)
  const sorts = [...(data.sort === 'featured' ? ['featured'] : []), 'newest', 'highest', 'lowest']
  return h(
    'div',
    { ref: list, tabIndex: -1, style: 'outline:none' },
    total > 1
      ? h(
          'label',
          { class: 'sort', part: 'sort' },
          t('sort'),
          h(
            'select',
            { value: sort, onChange: ({ target }) => go({ sort: target.value }) },
            sorts.map((each) => h('option', { value: each, selected: each === sort }, t(each))),
          ),
        )
      : null,
    layout === 'carousel'
      ? h(Carousel, { items, label, perView: 3, t })
      : h(
          'ul',
          { class: layout, part: layout },
          items.map((item) => h('li', { key: item.key }, item)),
        ),
    pages > 1
      ? h(
          'nav',
          { class: 'pages', part: 'pages', 'aria-label': t('pages') },
          h(
            'button',
            { type: 'button', disabled: page <= 1, onClick: () => go({ page: page - 1 }) },
            t('previous'),
          ),
          h('span', { role: 'status' }, t('page', { page, pages })),
          h(
            'button',
            { type: 'button', disabled: page >= pages, onClick: () => go({ page: page + 1 }) },
            t('next'),
          ),
        )
      : null,
    shown ? h(Lightbox, { ...shown, t, onClose: () => setShown(null) }) : null,
  )
}

const shownAtOnce = 500

function Review({ review, data, shop, t, onEnlarge }) {
  const { name, rating, title, text, images, verified, reply, reviewedAt } = review
  const [isWhole, setWhole] = useState((text ?? '').length <= shownAtOnce)
  const [broken, setBroken] = useState([])
  const pictures = images.filter((url) => !broken.includes(url))
  return h(
    'article',
    { part: review.featured ? 'review featured' : 'review' },
    h(
      'div',
      { class: 'by' },
      h(Stars, { rating, color: data.starColor, label: t('rated', { rating }) }),
      h('strong', { part: 'name' }, name),
      verified
        ? h(
            'span',
            { class: 'verified', part: 'verified' },
            h('span', { 'aria-hidden': 'true' }, '✓'),
            t('verified'),
          )
        : null,
      reviewedAt ? h('time', { part: 'date', dateTime: reviewedAt }, dayOf(reviewedAt, shop)) : null,
    ),
    title ? h('h3', { part: 'review-title' }, title) : null,
    text
      ? h(
          'p',
          { class: 'text', part: 'text' },
          isWhole ? text : `${truncate(text, shownAtOnce)}… `,
          isWhole
            ? null
            : h(
                'button',
                { type: 'button', class: 'plain', 'aria-expanded': 'false', onClick: () => setWhole(true) },
                t('more'),
              ),
        )
      : null,
    pictures.length > 0
      ? h(
          'ul',
          { class: 'pictures', part: 'pictures' },
          pictures.map((url, at) =>
            h(
              'li',
              { key: url },
              h(
                'button',
                {
                  type: 'button',
                  'aria-label': t('enlarge', { at: at + 1, count: pictures.length, name }),
                  onClick: () => onEnlarge({ pictures, first: at, name }),
                },
                h('img', {
                  src: url,
                  alt: '',
                  width: 88,
                  height: 88,
                  loading: 'lazy',
                  onError: () => setBroken((all) => [...all, url]),
                }),
              ),
            ),
          ),
        )
      : null,
    reply
      ? h(
          'div',
          { class: 'reply', part: 'reply' },
          h('strong', null, t('reply', { name: reply.authorName ?? shop.name })),
          data.showDate && reply.repliedAt ? ` · ${dayOf(reply.repliedAt, shop)}` : null,
          h('p', null, reply.text),
        )
      : null,
  )
}
