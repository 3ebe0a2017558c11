// Shows testimonials: quotes of customers about the store.

import { h, isFor, Picture } from '../../../storefront/script/client/elements.js'
import { Carousel, carouselCss, carouselTexts } from '../../reviews/elements/carousel.js'
import { Stars } from '../../reviews/elements/words.js'

export default {
  css: `
:host { display: block; }
section { padding: 24px 16px; }
h2 { margin: 0 0 16px; text-align: center; font-size: 22px; }
figure { margin: 0; padding: 16px; height: 100%; border: 1px solid color-mix(in srgb, currentColor 20%, transparent);
  border-radius: 8px; overflow-wrap: anywhere; }
blockquote { margin: 8px 0 12px; white-space: pre-line; }
figcaption { display: flex; gap: 12px; align-items: center; }
figcaption img { width: 48px; height: 48px; border-radius: 50%; object-fit: cover; flex: none; }
figcaption span { display: block; font-size: 14px; }
.grid, .list { display: grid; gap: 16px; margin: 0; padding: 0; list-style: none; }
.grid { grid-template-columns: repeat(auto-fill,
  minmax(max(calc((100% - (var(--per-view) - 1) * 16px) / var(--per-view)), min(100%, 240px)), 1fr)); }
.list { max-width: 720px; margin: 0 auto; }
${carouselCss}`,
  texts: {
    en: { ...carouselTexts.en, label: 'What our customers say', rated: '{{rating}} of 5 stars' },
    'pt-BR': {
      ...carouselTexts['pt-BR'],
      label: 'O que dizem os clientes',
      rated: '{{rating}} de 5 estrelas',
    },
    es: { ...carouselTexts.es, label: 'Lo que dicen los clientes', rated: '{{rating}} de 5 estrellas' },
  },
  places: (data, { page, device }) =>
    isFor({ pages: data.pages }, { page, device }) ? [{ spot: 'page-bottom' }] : [],
  view: Testimonials,
}

function Testimonials({ data, t }) {
  const {
    layout,
    itemsPerView,
    autoplay,
    autoplaySeconds,
    backgroundColor: background,
    textColor: color,
  } = data
  const { title } = data
  const label = title || t('label')
  const items = data.data.map((each, at) =>
    h(Testimonial, { ...each, key: String(at), starColor: data.starColor, t }),
  )
  const perView = { '--per-view': itemsPerView }
  return h(
    'section',
    { part: 'testimonials', 'aria-label': label, style: { background, color } },
    title ? h('h2', { part: 'title' }, title) : null,
    layout === 'carousel'
      ? h(Carousel, { items, label, perView: itemsPerView, seconds: autoplay ? autoplaySeconds : null, t })
      : h(
          'ul',
          { class: layout, part: layout, style: perView },
          items.map((item) => h('li', { key: item.key }, item)),
        ),
  )
}

function Testimonial({ authorName, authorTitle, text, rating, photoUrl, starColor: color, t }) {
  return h(
    'figure',
    { part: 'testimonial' },
    rating === null ? null : h(Stars, { rating, color, label: t('rated', { rating }) }),
    h('blockquote', { part: 'text' }, text),
    h(
      'figcaption',
      { part: 'author' },
      h(Picture, { src: photoUrl, width: 48, height: 48, loading: 'lazy' }),
      h(
        'div',
        null,
        h('strong', { part: 'name' }, authorName),
        authorTitle ? h('span', { part: 'role' }, authorTitle) : null,
      ),
    ),
  )
}
